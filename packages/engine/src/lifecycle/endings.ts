import type { VmDriver } from '@lodge/ports';

/** The calls of a driver that end a VM, or put another in its place. */
export type Endings = Pick<VmDriver, 'suspend' | 'backUp' | 'rollBack' | 'remove'>;
/** A driver without those calls: whoever has this one can end no VM unmetered. */
export type DriverInUse = Omit<VmDriver, keyof Endings>;

/** Waited for before a VM ends; never rejects. */
export type BeforeEnd = (agentId: string) => Promise<void>;

/** The driver's endings, each begun when `beforeEnd` is done with the VM. */
export function endingsOf(driver: VmDriver, beforeEnd: BeforeEnd): Endings {
  return {
    suspend: (agentId, ...call) => beforeEnd(agentId).then(() => driver.suspend(agentId, ...call)),
    backUp: (agentId, ...call) => beforeEnd(agentId).then(() => driver.backUp(agentId, ...call)),
    rollBack: (agentId) => beforeEnd(agentId).then(() => driver.rollBack(agentId)),
    remove: (agentId, options) => beforeEnd(agentId).then(() => driver.remove(agentId, options)),
  };
}
