import type { VmDriver } from '@lodge/ports';

/** The calls of a driver that end a VM. */
export type Endings = Pick<VmDriver, 'rest' | 'remove'>;
/** A driver without those calls, so that its holder can end no VM unmetered. */
export type DriverInUse = Omit<VmDriver, keyof Endings>;

/** The work before a VM ends, which its end waits for. Never rejects. */
export type BeforeEnd = (agentId: string) => Promise<void>;

/** The driver's endings; each begins when `beforeEnd` is done with the VM. */
export function endingsOf(driver: VmDriver, beforeEnd: BeforeEnd): Endings {
  return {
    rest: (agentId, ...call) => beforeEnd(agentId).then(() => driver.rest(agentId, ...call)),
    remove: (agentId, options) => beforeEnd(agentId).then(() => driver.remove(agentId, options)),
  };
}
