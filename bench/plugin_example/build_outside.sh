#!/bin/sh
# build_outside.sh SOURCE_DIR PC_FILE HEADER_DIR TEST ... - runs the lines of the README in an empty folder, against headers and
# a pkg-config file as they are installed, and has each TEST load the result.
set -u
source_dir=$1 pc_file=$2 header_dir=$3
shift 3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

mkdir -p "$tmp/usr/include/posbench" "$tmp/outside"
cp "$header_dir/pe.h" "$header_dir/pe_option.h" "$header_dir/pe_vec.h" "$header_dir/pe_vector.h" "$header_dir/pe_product.h" "$tmp/usr/include/posbench/"
sed "s|^prefix=.*|prefix=$tmp/usr|" "$pc_file" >"$tmp/posbench.pc"
cp "$source_dir/nearness.c" "$tmp/outside/"
sed -n 's/^    \(cc .*\)/\1/p' "$source_dir/README.md" >"$tmp/lines"

echo "1..$(($# + 1))"
if (cd "$tmp/outside" && PKG_CONFIG_PATH=$tmp && export PKG_CONFIG_PATH && sh -eux "$tmp/lines") >"$tmp/log" 2>&1; then
  echo "ok 1 - the README's lines build the plug-in"
else
  echo "not ok 1 - the README's lines build the plug-in"
fi
sed 's/^/# /' "$tmp/log"
number=1
for test in "$@"; do
  number=$((number + 1))
  if PLUGIN_EXAMPLE=$tmp/outside/nearness.so "$test" --jobs=1 >"$tmp/log" 2>&1; then
    echo "ok $number - $(basename "$test") loads it"
  else
    echo "not ok $number - $(basename "$test") loads it"
  fi
  sed 's/^/# /' "$tmp/log"
done
