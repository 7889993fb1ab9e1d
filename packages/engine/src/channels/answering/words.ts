/**
 * Sentences that Lodge says in an agent's place, and those for the owner. A sender learns nothing of the owner's account.
 */
import { helpText } from '@lodge/domain';
import type { ChannelCommand } from '@lodge/domain';
import type { AgentRow } from '@lodge/store/agents';
import { workReasons } from '../../work/failure.ts';

export const sayings = {
  cannot: 'I cannot answer right now.',
  notDone: 'I could not finish this. Please try again later.',
  tooLong: 'That is too long for me.',
  refused: 'I cannot do this.',
  off: 'I am switched off at the moment.',
  nothing: 'I have no answer to that.',
  stopped: 'Stopped.',
  fresh: 'A new conversation begins.',
  cut: '\n\n(The rest of the answer was too long.)',
} as const;

export const reasons = { ...workReasons, stopped: 'The sender stopped it.' } as const;

/** The answer to a command. The caller does the rest of the command. */
export function commandAnswer(command: ChannelCommand, agent: AgentRow): string {
  switch (command) {
    case 'help':
      return helpText;
    case 'new':
      return sayings.fresh;
    case 'stop':
      return sayings.stopped;
    case 'status':
      return statusText(agent);
  }
}

function statusText({ status, lifecycle }: AgentRow): string {
  switch (status) {
    case 'running':
      return 'I am awake.';
    case 'provisioning':
      return 'I am starting.';
    case 'paused':
    case 'stopped':
      return lifecycle.wakeOnMessage ? 'I am asleep. A message wakes me.' : sayings.off;
    case 'error':
      return sayings.cannot;
  }
}
