/** The ways in which a VM ends without being asked to, and the words for them. A driver says which one it was. */
import type { StatusReasonCode } from './agent.ts';

interface Way {
  /** The reason of an agent in `error` because of it. */
  readonly reason: StatusReasonCode;
  /** A public sentence. It says nothing of the host, except that it is short of something. */
  readonly sentence: string;
}

const way = (sentence: string, reason: StatusReasonCode = 'vm_crashed'): Way => ({ reason, sentence });

/** `packages/vm/src/qemu/machine/death.ts` tells them apart. */
const ways = {
  guest_panic: way('The kernel of the guest panicked.'),
  guest_out_of_memory: way('The kernel of the guest ran out of memory and panicked.', 'out_of_memory'),
  guest_reset: way('The guest restarted its machine from within.'),
  guest_triple_fault: way('The processor of the guest was reset without a word of its kernel: a triple fault.'),
  guest_power_off: way('The guest switched its machine off.'),
  host_out_of_memory: way('The kernel of the host ended the emulator for lack of memory.', 'out_of_memory'),
  host_disk_full: way('The disk of the host is full, and the machine stands still at a write.', 'host_disk_full'),
  host_restarted: way('The host was restarted, and the machine with it.'),
  disk_bound: way('The disk file of the agent grew beyond its bound, and the emulator was ended for it.', 'disk_full'),
  killed: way('Somebody on the host ended the emulator.'),
  emulator_crashed: way('The emulator crashed.'),
  emulator_forbidden: way('The emulator tried a system call that it may not make, and was ended for it.'),
  emulator_failed: way('The emulator ended with an error.'),
  emulator_stuck: way('The emulator could not go on with the processor of the guest.'),
  emulator_untrusted: way('The emulator did not keep to its protocol, and Lodge ended it.'),
  unknown: way('Nothing says why the machine ended.'),
} as const satisfies Readonly<Record<string, Way>>;

export type VmDeathCode = keyof typeof ways;
export const vmDeathCodes = Object.keys(ways) as readonly VmDeathCode[];

/** The reason why a VM ended. Guest and emulator chose `detail` and `console`: they are bounded, but not clean. */
export interface VmDeath {
  readonly code: VmDeathCode;
  /** The words of the guest's kernel or the emulator, or the signal that ended it; empty when there are none. */
  readonly detail: string;
  /** Last lines of the guest's console, oldest first. */
  readonly console: readonly string[];
}

export const maxDeathDetail = 200;
export const maxDeathLines = 20;
/** Most characters of all lines together. */
export const maxDeathChars = 4096;

export const reasonOfDeath = ({ code }: Pick<VmDeath, 'code'>): StatusReasonCode => ways[code].reason;

/** Returns one sentence, with the detail in brackets behind it. The caller has made the detail plain. */
export function sentenceOfDeath({ code, detail }: Pick<VmDeath, 'code' | 'detail'>): string {
  const { sentence } = ways[code];
  return detail === '' ? sentence : `${sentence} (${detail})`;
}
