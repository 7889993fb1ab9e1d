import type { CallOutcome, GuardedAct } from '@lodge/domain';
import type { ToolAnswer } from '../guest/tool-source.ts';
import type { CallGuard, GuardedCaller, StoredCall } from './call-guard.ts';

/** A tool's answer, and whether the tool was called. */
export interface ToolCalled {
  readonly answer: ToolAnswer;
  readonly end: CallOutcome;
}

interface Confirming {
  readonly caller: GuardedCaller;
  readonly act: GuardedAct;
  readonly call: StoredCall;
  readonly signal: AbortSignal;
}

/** Calls a tool after a yes. Without one the answer says so. Rejects with a `Refusal` where nobody can be asked. */
export async function toolConfirmed(
  guard: CallGuard,
  { caller, act, call, signal }: Confirming,
  make: () => Promise<ToolCalled>,
): Promise<ToolAnswer> {
  const answer = await guard.ask(caller, act, call, signal);
  if (answer.verdict !== 'allowed') return { content: [{ type: 'text', text: answer.message }], isError: true };
  const called = await make();
  await answer.ended({ outcome: called.end, text: textOfAnswer(called.answer) });
  return called.answer;
}

/** The texts of a tool's answer. */
export const textOfAnswer = ({ content }: ToolAnswer): string =>
  content.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n\n');
