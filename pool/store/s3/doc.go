// Package s3 keeps a pool's state in a bucket of any S3 server that keeps conditions on writes.
//
// A key is an object below the prefix. PutIfAbsent is a PUT with If-None-Match: *, CompareAndSwap
// one with If-Match, and a revision is an ETag. The object's first line is drawn for each write
// and the value comes after it, which is for two things: equal values have different ETags, and a
// writer whose request was refused sees whether it was refused because of itself, which happens
// where a proxy on the way delivers a request twice.
//
// A request that the server refuses because it is busy (503, 429, or 409 of two conditional
// writes at once) is made again, later and later, until the context ends. No other request is:
// minio-go's own repetitions are switched off, because after a lost answer only the caller knows
// what to do.
//
// A server does not report writes, so a watch lists its prefix every five seconds, and more
// rarely where the list has several pages: at most 720 requests an hour. Where the prefix is
// itself a key, such as that which wakes a host, it asks for this object instead, which costs a
// twelfth with those who charge for lists, and lists once a minute.
package s3
