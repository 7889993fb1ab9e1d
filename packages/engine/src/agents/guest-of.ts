import type { GuestAddress, Vm, VmDriver } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';

type Access = Pick<VmDriver, 'dial' | 'guestCredential' | 'pace'>;

/** The guest of an agent, in the VM that it has at this address. */
export function guestOf(driver: Access, { agentId, address }: Pick<Vm, 'agentId' | 'address'>): GuestAddress {
  return {
    address,
    dial: (port, signal) => driver.dial(agentId, port, signal),
    credential: () => driver.guestCredential(agentId, address),
    pace: driver.pace,
  };
}

/** The guest of a running agent, as its row says. */
export function guestOfRow(driver: Access, { id, vmAddress }: Pick<AgentRow, 'id' | 'vmAddress'>): GuestAddress {
  return guestOf(driver, { agentId: id, address: vmAddress ?? '' });
}
