//go:build linux

package network

import (
	"math/rand/v2"
	"net/netip"
	"os"
	"sync"
	"time"
)

// A weather is what happens to the packets of one direction.
type weather struct {
	cut    bool
	loss   float64 // the part of packets that is lost
	delay  time.Duration
	jitter time.Duration // is added to the delay, up to so much; packets overtake each other
}

// A line is between a machine and the wire.
type line struct {
	device   *os.File
	out, in  weather
	lost, on int // packets
}

// A wire connects machines.
type wire struct {
	mu    sync.Mutex
	rand  *rand.Rand
	lines map[netip.Addr]*line
}

func newWire(seed uint64) *wire {
	return &wire{rand: rand.New(rand.NewPCG(seed, 1)), lines: map[netip.Addr]*line{}}
}

func (w *wire) connect(address netip.Addr, device *os.File) *line {
	l := &line{device: device}
	w.mu.Lock()
	w.lines[address] = l
	w.mu.Unlock()
	go func() {
		for packet := make([]byte, 64<<10); ; {
			n, err := device.Read(packet)
			if err != nil {
				return // the machine is off
			}
			w.pass(l, append([]byte(nil), packet[:n]...))
		}
	}()
	return l
}

// pass brings a packet to the machine that it is for, or loses it.
func (w *wire) pass(from *line, packet []byte) {
	if len(packet) < 20 || packet[0]>>4 != 4 {
		return // no IPv4
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	to := w.lines[netip.AddrFrom4([4]byte(packet[16:20]))]
	if to == nil {
		return
	}
	delay := time.Duration(0)
	for _, on := range []weather{from.out, to.in} {
		if on.cut || w.rand.Float64() < on.loss {
			from.lost++
			return
		}
		delay += on.delay + time.Duration(w.rand.Float64()*float64(on.jitter))
	}
	from.on++
	send := func() { _, _ = to.device.Write(packet) } // a machine that is off has lost it
	if delay == 0 {
		send()
		return
	}
	time.AfterFunc(delay, send)
}

// set changes the weather of a line.
func (w *wire) set(l *line, out, in weather) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l.out, l.in = out, in
}

// packets returns how many were lost, and how many passed.
func (w *wire) packets() (lost, passed int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.lines {
		lost, passed = lost+l.lost, passed+l.on
	}
	return lost, passed
}
