/** An agent's runtime asks whether it may run a command, or change a file. */
import { Refusal, commandAct, commandPolicy } from '@lodge/domain';
import type { CallGuard, GuardAnswer, GuardedCaller, StoredCall } from '@lodge/ports';

export type GivenCommand = Omit<Extract<StoredCall, { readonly kind: 'command' }>, 'kind'>;

export interface CommandAnswer {
  readonly verdict: GuardAnswer['verdict'];
  /** For the agent; empty where the command is allowed. */
  readonly message: string;
}

const allowed: CommandAnswer = { verdict: 'allowed', message: '' };

export async function confirmCommand(
  guard: CallGuard,
  caller: GuardedCaller,
  command: GivenCommand,
  signal: AbortSignal,
): Promise<CommandAnswer> {
  const policy = commandPolicy(caller.confirmations, command.text);
  if (policy === 'allow') return allowed;
  if (policy === 'deny') {
    return { verdict: 'denied', message: 'A rule of the owner denies this. Do not try it in another way.' };
  }
  try {
    const answer = await guard.ask(caller, commandAct(command.text), { kind: 'command', ...command }, signal);
    if (answer.verdict !== 'allowed') return answer;
    // The host does not learn how a command ends.
    await answer.ended({ outcome: 'done', text: '' });
    return allowed;
  } catch (error) {
    if (error instanceof Refusal) return { verdict: 'denied', message: error.message };
    throw error;
  }
}
