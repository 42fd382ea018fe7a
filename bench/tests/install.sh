#!/usr/bin/env bash
# install.sh BUILD PREFIX PLUGIN_EXAMPLE CC: an installed program finds its twin, its specs and its plots' scripts, wherever it
# is put; a plug-in is built with what is installed and nothing else.
. "$(dirname "$0")/tap.sh"
build=$1 prefix=$2 example=$(realpath "$3") cc=$4
holds "install" env DESTDIR="$tmp/there" meson install -C "$build" --no-rebuild --quiet
root=$tmp/there$prefix
# Away from the tree, so that nothing is found by accident: a program that looks in its source tree would find it there.
mv "$root" "$tmp/elsewhere"
posbench=$tmp/elsewhere/bin/posbench
cd "$tmp" || exit 1
expect 0 "list specs" "$posbench" list specs --format json
said "$out" "specs are the installed ones" "$tmp/elsewhere/bin/../share/posbench/specs/"
expect 0 "an installed claim" "$posbench" claims C8
said "$out" "it is decided" "C8             reproduced"
expect 0 "check finds its twin" "$posbench" check nope
for file in share/man/man1/posbench.1 libexec/posbench/posbench-f64 include/posbench/pe.h include/posbench/pe_option.h \
  include/posbench/pe_vec.h include/posbench/pe_vector.h include/posbench/pe_product.h share/posbench/plots/style.gp \
  share/posbench/claims/formulas.yaml; do
  if [ -s "$tmp/elsewhere/$file" ]; then pass "$file is installed"; else fail "$file is installed"; fi
done
# The lines of the plug-in's README, with the installed header and pkg-config file.
mkdir outside pkgconfig
sed "s|^prefix=.*|prefix=$tmp/elsewhere|" "$(find elsewhere -name posbench.pc)" >pkgconfig/posbench.pc
cp "$example/nearness.c" outside/
sed -n "s|^    cc \(.*\)|$cc \1|p" "$example/README.md" >lines
holds "a plug-in is built with what is installed" \
  sh -euc "cd outside && export PKG_CONFIG_PATH='$tmp/pkgconfig' && . ../lines"
expect 0 "the installed program takes it" "$posbench" check nearness --plugin outside/nearness.so
said "$out" "and checks it" "nearness"
cp "$posbench" "$tmp/posbench"
chmod -x "$tmp/elsewhere/libexec/posbench/posbench-f64"
refused 3 "posbench-f64, the double-precision twin" "without its twin, check says so" "$posbench" check nope
done_testing
