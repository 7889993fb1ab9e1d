/** The disk with the browser: a device that every machine has, and that is full of zeroes until the host has built a browser. */
import { open, readdir, readFile } from 'node:fs/promises';
import { systemCode } from '../errors.ts';

const serial = 'lodge-browser';
/** Offset and value of the magic number of ext4. */
const magic = { at: 1024 + 0x38, value: 0xef53 };

/**
 * Returns the device's path, or null where the machine has no browser. Looks anew each time, because the host puts the browser
 * there while the machine runs. The kernel forgets what it has read of a device as soon as nobody has it open.
 */
export async function browserDevice(root: string): Promise<string | null> {
  for (const name of await blockDevices(root)) {
    const text = await readFile(`${root}/sys/block/${name}/serial`, 'utf8').catch(() => '');
    if (text.trim() !== serial) continue;
    const path = `${root}/dev/${name}`;
    return (await hasFileSystem(path)) ? path : null;
  }
  return null;
}

async function blockDevices(root: string): Promise<readonly string[]> {
  try {
    return await readdir(`${root}/sys/block`);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

async function hasFileSystem(path: string): Promise<boolean> {
  await using file = await open(path, 'r');
  const { bytesRead, buffer } = await file.read(Buffer.alloc(2), 0, 2, magic.at);
  return bytesRead === 2 && buffer.readUInt16LE() === magic.value;
}
