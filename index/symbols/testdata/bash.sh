#!/usr/bin/env bash
set -e
source ./lib/common.sh
. "$(dirname "$0")/other.sh"
. lib/third.sh

readonly VERSION=1.0
export PATH_X="/bin"
NAME="x"
declare -r OTHER=1

function with_keyword {
  local x=1
  echo "${x} {"
}

plain() {
  inner() { :; }
  cat <<DOC
fake() {
DOC
}

if true; then
  conditional() { :; }
fi

main "$@"
