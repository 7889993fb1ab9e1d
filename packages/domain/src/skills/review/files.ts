/** Knows programs and archives by their first bytes, whatever their names are. */
import type { Found } from './finding.ts';

const executables: readonly (readonly [string, string])[] = [
  ['7f454c46', 'a program for Linux (ELF)'],
  ['feedface', 'a program for macOS (Mach-O)'],
  ['feedfacf', 'a program for macOS (Mach-O)'],
  ['cefaedfe', 'a program for macOS (Mach-O)'],
  ['cffaedfe', 'a program for macOS (Mach-O)'],
  ['cafebabe', 'a program for macOS or Java'],
  ['0061736d', 'a program in WebAssembly'],
];
const archives: readonly (readonly [string, string])[] = [
  ['504b0304', 'zip'],
  ['1f8b', 'gzip'],
  ['fd377a585a00', 'xz'],
  ['425a68', 'bzip2'],
  ['28b52ffd', 'zstd'],
  ['377abcaf271c', '7z'],
  ['526172211a07', 'rar'],
];

export function fileFindings(bytes: Uint8Array): Found[] {
  const head = Array.from(bytes.subarray(0, 8), (byte) => byte.toString(16).padStart(2, '0')).join('');
  const program = executables.find(([magic]) => head.startsWith(magic))?.[1] ?? (isPe(bytes) ? windows : null);
  if (program !== null) return [{ severity: 'high', rule: 'executable', message: program }];
  const archive = archives.find(([magic]) => head.startsWith(magic));
  if (archive || isTar(bytes)) {
    const message = `an archive (${archive?.[1] ?? 'tar'}), in which nobody looked`;
    return [{ severity: 'medium', rule: 'nested_archive', message }];
  }
  return [];
}

const windows = 'a program for Windows (PE)';

/** A text may begin with MZ; then its header leads to no PE signature, and no byte of zero is near. */
function isPe(bytes: Uint8Array): boolean {
  if (bytes[0] !== 0x4d || bytes[1] !== 0x5a || bytes.length < 64) return false;
  const at = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(60, true);
  const isSigned = bytes[at] === 0x50 && bytes[at + 1] === 0x45 && bytes[at + 2] === 0;
  return isSigned || bytes.subarray(0, 64).includes(0);
}

const isTar = (bytes: Uint8Array): boolean =>
  bytes.length > 262 && String.fromCharCode(...bytes.subarray(257, 262)) === 'ustar';
