import type { VmDriver } from '@lodge/ports';

/** The calls of a driver that end a VM, or put another in its place. */
export type Endings = Pick<VmDriver, 'suspend' | 'backUp' | 'rollBack' | 'remove'>;
/** A driver without those calls, so that its holder can end no VM unmetered. */
export type DriverInUse = Omit<VmDriver, keyof Endings>;

/** The work before a VM ends, which its end waits for. Never rejects. */
export type BeforeEnd = (agentId: string) => Promise<void>;

/** The driver's endings; each begins when `beforeEnd` is done with the VM. */
export function endingsOf(driver: VmDriver, beforeEnd: BeforeEnd): Endings {
  return {
    suspend: (agentId, ...call) => beforeEnd(agentId).then(() => driver.suspend(agentId, ...call)),
    backUp: (agentId, ...call) => beforeEnd(agentId).then(() => driver.backUp(agentId, ...call)),
    rollBack: (agentId) => beforeEnd(agentId).then(() => driver.rollBack(agentId)),
    remove: (agentId, options) => beforeEnd(agentId).then(() => driver.remove(agentId, options)),
  };
}
