/**
 * The device files that QEMU opens without privilege. udev gives them the needed modes. A host without udev (a container, a
 * minimal init) leaves them to root, and then this module sets udev's modes.
 */
import { chmod, chown, stat } from 'node:fs/promises';
import type { Stats } from 'node:fs';
import { templateGid } from './confinement.ts';

const tun = '/dev/net/tun';
const kvm = '/dev/kvm';
const groupReadWrite = 0o060;
const othersReadWrite = 0o006;

/** Lets everybody open the tap device, as udev does: only its owner can attach to a tap. */
export async function openTapDevice(): Promise<void> {
  const found = await stat(tun);
  if ((found.mode & othersReadWrite) !== othersReadWrite) await chmod(tun, 0o666);
}

/** Groups that a VM must be in to use KVM; null when this host has no KVM device. */
export async function openKvmDevice(): Promise<readonly number[] | null> {
  const found = await stat(kvm).catch(() => null);
  if (!found) return null;
  if ((found.mode & othersReadWrite) === othersReadWrite) return [];
  if (groupMayUse(found)) return [found.gid];
  await chown(kvm, 0, templateGid);
  await chmod(kvm, 0o660);
  return [templateGid];
}

export async function hasKvmDevice(): Promise<boolean> {
  return (await stat(kvm).catch(() => null)) !== null;
}

/** Root's own group does not count: a VM must not be in it. */
function groupMayUse(found: Stats): boolean {
  return found.gid !== 0 && (found.mode & groupReadWrite) === groupReadWrite;
}
