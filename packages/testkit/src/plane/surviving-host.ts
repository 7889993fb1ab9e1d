/**
 * The fake host of a process that was killed: machines and their templates outlive it, so its next life finds those that the
 * database has here.
 */
import type { AgentRow } from '@lodge/store/agents';
import { FakeHost } from '@lodge/vm/fake';

export function survivingHost(agents: readonly AgentRow[], newAddress?: () => string): FakeHost {
  const host = new FakeHost();
  const taken = new Set(agents.map(({ vmAddress }) => vmAddress));
  const next = newAddress ?? host.newAddress.bind(host);
  host.newAddress = (): string => {
    const address = next();
    return taken.has(address) ? host.newAddress() : address;
  };
  for (const { id: agentId, executionId, templateId, vmAddress: address, machine, egress, ...agent } of agents) {
    if (!(agent.status === 'running' || agent.status === 'paused')) continue;
    if (!executionId || !templateId || !machine) continue;
    const facts = { token: 'of-the-template' };
    host.keep({ id: templateId, imageId: 'image', facts, guest: { files: new Map(), memory: new Map() } });
    host.vms.set(agentId, {
      agentId,
      executionId,
      templateId,
      address,
      machine,
      egress,
      phase: 'running',
      silent: null,
      seesBrowser: false,
      still: false,
      alive: true,
      paused: agent.status === 'paused',
      credential: null,
      facts: null,
      loading: null,
      overRest: false,
      console: '',
      death: null,
      halted: null,
      refused: [],
      guest: { files: new Map(), memory: new Map() },
    });
  }
  return host;
}
