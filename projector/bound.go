package projector

import (
	"reflect"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/clean"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

// Bounds of a view, in characters and in numbers of things.
const (
	textMost = 4000
	taskMost = 1000
	listMost = 200
)

// exact are the fields that name files. They are not changed.
var exact = map[string]bool{"Dir": true, "Project": true, "WorkDir": true, "File": true, "Root": true}

// bound cleans and cuts what is in a view. What the view shares with the state that it was made of
// is copied.
func bound(v *View) { boundValue(reflect.ValueOf(v).Elem()) }

func boundValue(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(units.Cut(clean.Text(v.String()), textMost))
	case reflect.Pointer:
		if !v.IsNil() {
			copied := reflect.New(v.Type().Elem())
			copied.Elem().Set(v.Elem())
			boundValue(copied.Elem())
			v.Set(copied)
		}
	case reflect.Slice:
		if v.IsNil() {
			return
		}
		n := min(v.Len(), listMost)
		copied := reflect.MakeSlice(v.Type(), n, n)
		reflect.Copy(copied, v)
		for i := range n {
			boundValue(copied.Index(i))
		}
		v.Set(copied)
	case reflect.Struct:
		if _, moment := v.Interface().(time.Time); moment {
			return
		}
		for i := range v.NumField() {
			if !exact[v.Type().Field(i).Name] {
				boundValue(v.Field(i))
			}
		}
	}
}
