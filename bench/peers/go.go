// go.go - the work of the thread benchmarks in Go; weft-bench runs it as a child.
//
// usage: weft-bench-go WHAT THREADS ROUNDS CORES DEPTH
// Prints the figures that bench/threads.h describes, on one line.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

var threads, rounds, cores, depth int
var begin = time.Now()

// now tells nanoseconds; for one core, of CPU time.
func now() float64 {
	if cores > 1 {
		return float64(time.Now().UnixNano())
	}
	var use syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &use)
	return float64(use.Utime.Nano() + use.Stime.Nano())
}

func perRound(start float64, count int) {
	fmt.Println((now() - start) / float64(count))
}

// runAll starts all goroutines, lets them begin together, and waits for their end.
// It tells when they began.
func runAll(body func(i int)) float64 {
	var arrived, ended sync.WaitGroup
	gate := make(chan struct{})
	arrived.Add(threads)
	ended.Add(threads)
	for i := 0; i < threads; i++ {
		go func(i int) {
			arrived.Done()
			<-gate
			body(i)
			ended.Done()
		}(i)
	}
	arrived.Wait()
	start := now()
	close(gate)
	ended.Wait()
	return start
}

func yield() {
	start := runAll(func(i int) {
		for r := 0; r < rounds; r++ {
			runtime.Gosched()
		}
	})
	perRound(start, threads*rounds)
}

func spawn() {
	var ended sync.WaitGroup
	start := now()
	for r := 0; r < rounds; r++ {
		ended.Add(threads)
		for i := 0; i < threads; i++ {
			go func() { ended.Done() }()
		}
		ended.Wait()
	}
	perRound(start, threads*rounds)
}

func mutex() {
	var m sync.Mutex
	shared := 0
	start := runAll(func(i int) {
		for r := 0; r < rounds; r++ {
			m.Lock()
			shared++
			m.Unlock()
		}
	})
	perRound(start, threads*rounds)
}

func pingPong() {
	there, back := make(chan int, depth), make(chan int, depth)
	start := runAll(func(i int) {
		for r := 0; r < rounds; r++ {
			if i == 0 {
				there <- r
				<-back
			} else {
				<-there
				back <- r
			}
		}
	})
	perRound(start, 2*rounds)
}

func stream() {
	c := make(chan int, depth)
	start := runAll(func(i int) {
		for r := 0; r < rounds; r++ {
			if i == 0 {
				c <- r
			} else {
				<-c
			}
		}
	})
	perRound(start, rounds)
}

type buffer struct {
	mutex       sync.Mutex
	room, items *sync.Cond
	count, head int
	ring        []int
}

func (b *buffer) send(value int) {
	b.mutex.Lock()
	for b.count == len(b.ring) {
		b.room.Wait()
	}
	b.ring[(b.head+b.count)%len(b.ring)] = value
	b.count++
	b.items.Signal()
	b.mutex.Unlock()
}

func (b *buffer) receive() int {
	b.mutex.Lock()
	for b.count == 0 {
		b.items.Wait()
	}
	value := b.ring[b.head]
	b.head = (b.head + 1) % len(b.ring)
	b.count--
	b.room.Signal()
	b.mutex.Unlock()
	return value
}

var sink uint64

func consume(seed *uint64) {
	*seed = *seed*6364136223846793005 + 1442695040888963407
	var x uint64
	for n := uint32(*seed>>33) % 200; n > 0; n-- {
		x += uint64(n)
	}
	if x == 1 {
		sink = x
	}
}

func produce() {
	b := &buffer{ring: make([]int, depth)}
	b.room = sync.NewCond(&b.mutex)
	b.items = sync.NewCond(&b.mutex)
	mine := rounds / (threads / 2)
	start := runAll(func(i int) {
		seed := uint64(i)
		for n := 0; n < mine; n++ {
			if i%2 == 0 {
				b.send(n)
			} else {
				b.receive()
				consume(&seed)
			}
		}
	})
	fmt.Println(float64(rounds) / (now() - start) * 1e6)
}

func memory() float64 {
	sum := 0.0
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		words := strings.Fields(s.Text())
		if len(words) > 1 && (words[0] == "VmRSS:" || words[0] == "VmPTE:") {
			kb, _ := strconv.ParseFloat(words[1], 64)
			sum += kb * 1024
		}
	}
	return sum
}

func parked() {
	var arrived, ended sync.WaitGroup
	gate := make(chan struct{})
	before := memory()
	start := now()
	arrived.Add(threads)
	ended.Add(threads)
	for i := 0; i < threads; i++ {
		go func() {
			arrived.Done()
			<-gate
			ended.Done()
		}()
	}
	arrived.Wait()
	started := (now() - start) / float64(threads)
	bytes := (memory() - before) / float64(threads)
	start = now()
	close(gate)
	ended.Wait()
	woken := (now() - start) / float64(threads)
	fmt.Println(started, woken, bytes)
}

func skynet(up chan int, number, size int) {
	if size == 1 {
		up <- number
		return
	}
	down := make(chan int)
	sum := 0
	for i := 0; i < 10; i++ {
		go skynet(down, number+i*(size/10), size/10)
	}
	for i := 0; i < 10; i++ {
		sum += <-down
	}
	up <- sum
}

func skynetChannels() {
	up := make(chan int)
	start := now()
	go skynet(up, 0, 1000000)
	checkSum(<-up, start)
}

func skynetTree(up *int, wait *sync.WaitGroup, number, size int) {
	defer wait.Done()
	if size == 1 {
		*up = number
		return
	}
	var below [10]int
	var ended sync.WaitGroup
	ended.Add(10)
	for i := range below {
		go skynetTree(&below[i], &ended, number+i*(size/10), size/10)
	}
	ended.Wait()
	for _, sum := range below {
		*up += sum
	}
}

func skynetJoins() {
	var wait sync.WaitGroup
	sum := 0
	start := now()
	wait.Add(1)
	go skynetTree(&sum, &wait, 0, 1000000)
	wait.Wait()
	checkSum(sum, start)
}

func checkSum(sum int, start float64) {
	ms := (now() - start) / 1e6
	if sum != 499999500000 {
		fmt.Println("wrong sum:", sum)
		os.Exit(1)
	}
	fmt.Println(ms)
}

// quote serves quotes on the listener that descriptor `threads` is: to each client one at
// once, the next after `depth` nanoseconds, then one every `rounds` nanoseconds. It ends
// when it is killed.
func quote() {
	listener, err := net.FileListener(os.NewFile(uintptr(threads), "listener"))
	for err == nil {
		var client net.Conn
		client, err = listener.Accept()
		if err == nil {
			go quoteClient(client)
		}
	}
	fmt.Fprintln(os.Stderr, "weft-bench-go:", err)
	os.Exit(1)
}

func quoteClient(client net.Conn) {
	var quote [64]byte
	copy(quote[:], "WEFT, last traded at")
	// The second quote is due at a whole millisecond.
	age := time.Since(begin).Truncate(time.Millisecond) + time.Millisecond
	due := begin.Add(age + time.Duration(depth))
	for {
		binary.LittleEndian.PutUint64(quote[56:], uint64(due.UnixNano()))
		if _, err := client.Write(quote[:]); err != nil {
			break
		}
		time.Sleep(time.Until(due))
		due = due.Add(time.Duration(rounds))
	}
	client.Close()
}

func main() {
	work := map[string]func(){
		"yield": yield, "spawn": spawn, "mutex": mutex, "ping-pong": pingPong,
		"stream": stream, "produce": produce, "parked": parked,
		"skynet-channels": skynetChannels, "skynet-joins": skynetJoins,
		"quote": quote,
	}
	if len(os.Args) != 6 || work[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: weft-bench-go WHAT THREADS ROUNDS CORES DEPTH")
		os.Exit(2)
	}
	threads, _ = strconv.Atoi(os.Args[2])
	rounds, _ = strconv.Atoi(os.Args[3])
	cores, _ = strconv.Atoi(os.Args[4])
	depth, _ = strconv.Atoi(os.Args[5])
	runtime.GOMAXPROCS(cores)
	work[os.Args[1]]()
}
