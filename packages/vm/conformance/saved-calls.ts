/** Calls about VMs and saved machines, made by a driver here or by one that is killed (`call-and-die.ts`). */
import { SavedStore } from '../src/qemu/saved/machine/saved-store.ts';
import type { VmDriver } from '@lodge/ports';
import { toVmError } from '../src/waiting.ts';
import { make } from './harness.ts';
import type { Call } from './harness.ts';
import type { QemuHostSettings } from './qemu-host.ts';

export type SavedCall =
  | Call
  | { readonly do: 'share' | 'drop' | 'pack'; readonly id: string }
  | { readonly do: 'copy'; readonly id: string; readonly to: string }
  | { readonly do: 'collect'; readonly keep: readonly string[] };

export function makeSaved(driver: VmDriver, { dataDir }: QemuHostSettings, call: SavedCall): Promise<unknown> {
  const { signal } = new AbortController();
  switch (call.do) {
    case 'share':
      return driver.shareSaved(call.id, signal);
    case 'drop':
      return driver.dropSaved(call.id);
    case 'copy':
      return driver.copySaved(call.id, call.to);
    case 'collect':
      return driver.collectSaved(new Set(call.keep), new Date());
    case 'pack':
      // A driver packs by itself what nobody has used for an hour.
      return new SavedStore(dataDir).pack(call.id, signal).catch((error: unknown) => {
        throw toVmError(error);
      });
    case 'create':
    case 'start':
    case 'rest':
    case 'save':
      return make(driver, call);
  }
}
