/** Makes turns of the messages of hooks. */
import { hookPromptOf } from '@lodge/domain';
import type { ClaimedHookMessage, HookTurns } from '@lodge/ports';
import type { Task } from '../claimed/task.ts';
import { TurnRunner } from '../claimed/turn-runner.ts';
import type { TurnRunnerDeps } from '../claimed/turn-runner.ts';
import { workReasons } from '../claimed/failure.ts';
import type { HookBounds } from './bounds.ts';

export interface HookRunnerDeps extends TurnRunnerDeps {
  readonly turns: HookTurns;
  readonly bounds: HookBounds;
}

export const createHookRunner = (deps: HookRunnerDeps): TurnRunner<ClaimedHookMessage> =>
  new TurnRunner({ ...deps, taskOf, what: 'messages of hooks' });

function taskOf({ hook, attempts, ...received }: ClaimedHookMessage): Task {
  const { id, accountId, agentId, name, isSigned } = hook;
  return {
    accountId,
    agentId,
    conversation: hook.conversation ?? `hook:${id}`,
    origin: 'hook',
    text: hookPromptOf({ ...received, hook: name, isSigned, attempt: attempts + 1 }),
    wakes: ({ lifecycle }) => lifecycle.wakeOnMessage,
    asleep: workReasons.off,
    fields: { agent_id: agentId, hook_id: id },
  };
}
