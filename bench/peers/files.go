// files.go - files over HTTP by Go's net/http, as its manual says.
//
// usage: weft-bench-files-go ROOT ADDRESS
package main

import (
	"net/http"
	"os"
)

func main() {
	panic(http.ListenAndServe(os.Args[2], http.FileServer(http.Dir(os.Args[1]))))
}
