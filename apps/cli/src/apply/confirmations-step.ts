import type { Agent, UpdateAgent } from '@lodge/sdk';
import { differences } from './diff.ts';
import { confirmationsForm } from './forms.ts';
import type { Step } from './step.ts';
import type { WantedAgent } from './file/wanted.ts';

/**
 * The step that sets the rules of an agent. Undefined when they are so. It follows the agent's connections, as the API takes
 * rules only for connections that are there.
 */
export function confirmationsStep(wanted: WantedAgent, agent: Agent | undefined): Step | undefined {
  if (wanted['confirmations'] === undefined) return undefined;
  const confirmations = confirmationsForm(wanted['confirmations']);
  const present = confirmationsForm(agent?.confirmations);
  const changes = differences({ confirmations }, { confirmations: present });
  if (changes.length === 0) return undefined;
  return {
    action: 'update',
    what: 'its confirmations',
    changes,
    async do({ lodge, call }, id) {
      await lodge.agents.update(id, { confirmations } as unknown as UpdateAgent, call);
    },
  };
}
