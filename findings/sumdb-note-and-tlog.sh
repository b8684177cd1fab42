#!/usr/bin/env bash
# Go's sumdb/note and sumdb/tlog check a checkpoint of another log, and refuse to read it as a tree.
#
# Version: golang.org/x/mod 0.7.0 of Debian 12 (golang-golang-x-mod-dev) with Go 1.19 or newer.
# Behaviour:
# `note.Open` accepts the Ed25519 signature of a checkpoint of C2SP's form and passes over three lines of other kinds.
# `note.NewVerifier` refuses a witness's Ed25519 key as an unknown algorithm. `tlog.CheckRecord` and `tlog.CheckTree` accept
# paths of RFC 6962. `tlog.ParseTree` reads only the checkpoints of Go's own database.
# Output seen: a line for each, at the end of this file.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download golang-golang-x-mod-dev=0.7.0-1 > said 2>&1 || { cat said; exit 1; }
dpkg -x golang-golang-x-mod-dev_*.deb root
mkdir -p main/vendor/golang.org/x
cp -r root/usr/share/gocode/src/golang.org/x/mod main/vendor/golang.org/x/
cd main
printf 'module example\ngo 1.19\nrequire golang.org/x/mod v0.7.0\n' > go.mod
printf '# golang.org/x/mod v0.7.0\n## explicit; go 1.17\ngolang.org/x/mod/sumdb/note\ngolang.org/x/mod/sumdb/tlog\n' > vendor/modules.txt
cat > main.go <<'GO'
package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type document struct {
	Keys                   struct{ Log, Witness []string }
	Records, Consistency   []string
	Old, Checkpoint, Proof string
}

func hash(data []byte, err error) (found tlog.Hash) {
	if err != nil || copy(found[:], data) != 32 {
		panic("no hash")
	}
	return
}

func says(what string, err error) {
	if err == nil {
		fmt.Println(what + ": yes")
	} else {
		fmt.Println(what + ": " + err.Error())
	}
}

func main() {
	var doc document
	data, _ := os.ReadFile(os.Args[1])
	if err := json.Unmarshal(data, &doc); err != nil {
		panic(err)
	}
	verifier, err := note.NewVerifier(doc.Keys.Log[0])
	says("key of the log, Ed25519", err)
	opened, err := note.Open([]byte(doc.Checkpoint), note.VerifierList(verifier))
	says("checkpoint", err)
	fmt.Println("lines passed over:", len(opened.UnverifiedSigs))
	_, err = note.NewVerifier(doc.Keys.Log[1])
	says("key of the log, ML-DSA-44", err)
	_, err = note.NewVerifier(doc.Keys.Witness[0])
	says("key of a witness, Ed25519", err)

	root := func(text string) tlog.Hash { return hash(base64.StdEncoding.DecodeString(strings.Split(text, "\n")[2])) }
	var path tlog.RecordProof
	for _, line := range strings.Split(strings.TrimSpace(doc.Proof), "\n")[2:] {
		path = append(path, hash(base64.StdEncoding.DecodeString(line)))
	}
	var growth tlog.TreeProof
	for _, node := range doc.Consistency {
		growth = append(growth, hash(hex.DecodeString(node)))
	}
	entry, _ := hex.DecodeString(doc.Records[4])
	says("inclusion", tlog.CheckRecord(path, 11, root(doc.Checkpoint), 4, tlog.RecordHash(entry)))
	says("consistency", tlog.CheckTree(growth, 11, root(doc.Checkpoint), 7, root(doc.Old)))
	_, err = tlog.ParseTree([]byte(opened.Text))
	says("checkpoint as a tree", err)
}
GO
GO111MODULE=on GOFLAGS=-mod=vendor GOTOOLCHAIN=local GOCACHE="$folder/cache" go run . "$here/checkpoint.json" | tee ../seen
diff ../seen - <<'EXPECTED'
key of the log, Ed25519: yes
checkpoint: yes
lines passed over: 3
key of the log, ML-DSA-44: unknown verifier algorithm
key of a witness, Ed25519: unknown verifier algorithm
inclusion: yes
consistency: yes
checkpoint as a tree: malformed tree note
EXPECTED
