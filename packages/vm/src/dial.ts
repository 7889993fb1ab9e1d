import { dialTo } from '@lodge/guest';
import { VmError } from '@lodge/ports';
import type { Dial } from '@lodge/ports';
import { throwIfAborted } from './waiting.ts';

/** Dials a guest at its address, with the errors that the port promises. */
export function dialAt(address: string): Dial {
  const dial = dialTo(address);
  return async (port, signal) => {
    try {
      return await dial(port, signal);
    } catch (error) {
      throwIfAborted(signal);
      const why = error instanceof Error ? error.message : String(error);
      throw new VmError('unreachable', `port ${port} of the guest at ${address}: ${why}`, { cause: error });
    }
  };
}

export const noGuest = (agentId: string): VmError => new VmError('gone', `${agentId} has no VM here`);
