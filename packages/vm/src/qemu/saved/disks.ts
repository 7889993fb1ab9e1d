/** Disks of VMs: qcow2 overlays. A new one is a few hundred bytes, so this module writes it without starting a tool. */
import { open } from 'node:fs/promises';
import { VmError } from '@lodge/ports';

const clusterBytes = 65_536;
const headerBytes = 104;
export const qcow2Magic = 0x514649fb;
const backingFormatExtension = 0xe2792aca;
/** Longest backing file name the format allows. */
const longestName = 1023;

export interface Overlay {
  readonly path: string;
  /** Absolute path of the qcow2 file beneath. */
  readonly backing: string;
  /** Size the guest sees; not less than the backing's. */
  readonly bytes: number;
}

/**
 * Writes an empty qcow2 file (version 3) over `backing`, replacing any file of that name.
 * Source: QEMU's docs/interop/qcow2.txt. Clusters: header, refcount table, refcount block, L1 table.
 */
export async function writeOverlay(overlay: Overlay): Promise<void> {
  const file = await open(overlay.path, 'w', 0o600);
  try {
    // On a full disk a plain write may write a part, and call it done.
    await file.writeFile(overlayImage(overlay));
  } finally {
    await file.close();
  }
}

export function overlayImage({ backing, bytes }: Omit<Overlay, 'path'>): Buffer {
  const name = Buffer.from(backing);
  if (name.length > longestName) throw new VmError('failed', `backing file name is too long: ${backing}`);
  const l1Entries = Math.ceil(bytes / (clusterBytes * (clusterBytes / 8)));
  const l1Clusters = Math.ceil((l1Entries * 8) / clusterBytes);
  const clusters = 3 + l1Clusters;
  const image = Buffer.alloc(clusters * clusterBytes);
  const nameAt = headerBytes + 16 + 8;
  image.writeUInt32BE(qcow2Magic, 0);
  image.writeUInt32BE(3, 4);
  image.writeBigUInt64BE(BigInt(nameAt), 8);
  image.writeUInt32BE(name.length, 16);
  image.writeUInt32BE(Math.log2(clusterBytes), 20);
  image.writeBigUInt64BE(BigInt(bytes), 24);
  image.writeUInt32BE(l1Entries, 36);
  image.writeBigUInt64BE(BigInt(3 * clusterBytes), 40);
  image.writeBigUInt64BE(BigInt(clusterBytes), 48);
  image.writeUInt32BE(1, 56);
  image.writeUInt32BE(4, 96);
  image.writeUInt32BE(headerBytes, 100);
  image.writeUInt32BE(backingFormatExtension, headerBytes);
  image.writeUInt32BE(5, headerBytes + 4);
  image.write('qcow2', headerBytes + 8, 'latin1');
  name.copy(image, nameAt);
  image.writeBigUInt64BE(BigInt(2 * clusterBytes), clusterBytes);
  for (let cluster = 0; cluster < clusters; cluster += 1) image.writeUInt16BE(1, 2 * clusterBytes + cluster * 2);
  return image;
}

/** Size in bytes the guest sees of a qcow2 file. */
export async function diskBytes(path: string): Promise<number> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(32), 0, 32, 0);
    if (bytesRead < 32 || buffer.readUInt32BE(0) !== qcow2Magic)
      throw new VmError('failed', `not a qcow2 file: ${path}`);
    return Number(buffer.readBigUInt64BE(24));
  } finally {
    await file.close();
  }
}
