// Exits with 0 when node_modules matches package-lock.json, else with 1. Runs on the host's Node, before any package is
// there.
// npm writes node_modules/.package-lock.json when an installation is complete, so an interrupted one does not pass.
import { readFileSync } from 'node:fs';

const packagesIn = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')).packages;

function current() {
  let wanted, present;
  try {
    wanted = packagesIn('../package-lock.json');
    present = packagesIn('../node_modules/.package-lock.json');
  } catch (error) {
    if (error.code === 'ENOENT') return false;
    throw error;
  }
  // A present package must have the exact version. Only an optional package that is not for this machine may be absent.
  const same = (path) => present[path]?.version === wanted[path]?.version && present[path]?.link === wanted[path]?.link;
  const needed = ([path, entry]) => path.startsWith('node_modules/') && (!entry.optional || isForHere(entry));
  return (
    Object.keys(present).every(same) &&
    Object.entries(wanted)
      .filter(needed)
      .every(([path]) => same(path))
  );
}

function isForHere({ os, cpu, libc }) {
  return (
    cpu?.includes(process.arch) && os?.includes(process.platform) && (libc === undefined || libc.includes('glibc'))
  );
}

process.exit(current() ? 0 : 1);
