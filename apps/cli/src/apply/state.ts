/** The state that a file wants of an agent: `running`, which lets it sleep when it is idle, or `stopped`. */
import type { Agent } from '@lodge/sdk';
import type { Step } from './step.ts';
import type { WantedAgent } from './file/wanted.ts';

const waitMs = 30 * 60_000;

export function stateSteps({ state }: WantedAgent, agent: Agent | undefined): Step[] {
  if (state === 'stopped' && agent?.status !== 'stopped') return [stop(agent)];
  if (state === 'running' && (agent?.status === 'stopped' || agent?.status === 'error')) return [start(agent)];
  return [];
}

const start = ({ status }: Agent): Step => ({
  action: 'start',
  what: '',
  changes: [{ field: 'state', from: status, to: 'running' }],
  async do({ lodge, call }, id) {
    // It was started already where files were put.
    const { status: now } = await lodge.agents.get(id, call);
    if (now === 'stopped' || now === 'error') await lodge.agents.start(id, {}, { ...call, query: { wait: false } });
  },
});

const stop = (agent: Agent | undefined): Step => ({
  action: 'stop',
  what: '',
  changes: [{ field: 'state', from: agent?.status ?? null, to: 'stopped' }],
  async do({ lodge, call, say }, id) {
    const { status } = await lodge.agents.get(id, call);
    if (status === 'stopped') return;
    if (status === 'provisioning') {
      say('Waiting for the machine');
      await lodge.agents.waitUntil(id, 'running', { ...call, timeoutMs: waitMs });
    }
    await lodge.agents.stop(id, {}, { ...call, query: { wait: false } });
  },
});
