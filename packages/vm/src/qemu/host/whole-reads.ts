/** Reads and writes that go on until all is done, for threads. */
import { readSync, writeSync } from 'node:fs';

/** Returns how many bytes there were: fewer than asked for where the file ends. */
export function readSome(file: number, into: NodeJS.ArrayBufferView, position: number): number {
  let got = 0;
  while (got < into.byteLength) {
    const bytes = readSync(file, into, got, into.byteLength - got, position + got);
    if (bytes === 0) break;
    got += bytes;
  }
  return got;
}

export function writeFully(file: number, from: Buffer, position: number): void {
  for (let put = 0; put < from.length;) put += writeSync(file, from, put, from.length - put, position + put);
}
