/** Decisions in conversations: by a press of a button, or by an answer with a code. Only named people decide. */
import { Refusal, confirmationBounds, isDecider } from '@lodge/domain';
import type { CodeAnswer } from '@lodge/domain';
import { maxSayChars, confirmationShownContext } from '@lodge/ports';
import type { Pressed, SecretBox } from '@lodge/ports';
import { selectAgent } from '@lodge/store/agents';
import { confirmationOfCode, findConfirmation, wasAskedBy } from '@lodge/store/confirmations';
import type { ConfirmationRow } from '@lodge/store/confirmations';
import type { Transaction } from '@lodge/store/database';
import { notKnown } from '../channels/relaying/pressing.ts';
import type { Answering, FromSender } from '../channels/relaying/pressing.ts';
import { defaultConfirmationBounds } from './bounds.ts';
import { decide } from './decide.ts';
import type { DecisionInput } from './decide.ts';
import { choiceOf } from './delivering.ts';
import type { Shown } from './shown.ts';

/** The number of an option, words, or null: no. */
type Said =
  | { readonly is: 'yes' | 'no' }
  | { readonly is: 'option'; readonly number: number }
  | { readonly is: 'words'; readonly words: string };

const notNamed: Pressed = { say: 'Only the people whom the owner named can decide this.', close: false };
const wrongForm: Pressed = { say: 'This is no answer to that question: nothing was changed.', close: false };

export const createConfirmationAnswers = (deps: { readonly secrets: SecretBox }): Answering => ({
  async take(trx, chosen) {
    const found = choiceOf(chosen.token);
    const said = found && saidBy(found.choice);
    if (!found || !said || !(await wasAskedBy(trx, found.id, chosen.answerId))) return notKnown;
    return decided(deps, trx, found.id, chosen, said);
  },
  async code(trx, { given, ...from }) {
    const id = await confirmationOfCode(trx, { ...from, code: given.code });
    if (id === undefined) return null;
    const { say } = await decided(deps, trx, id, from, saidWith(given));
    return say;
  },
});

function saidBy(choice: string): Said | null {
  if (choice === 'allow' || choice === 'deny') return { is: choice === 'allow' ? 'yes' : 'no' };
  return /^[1-5]$/.test(choice) ? { is: 'option', number: Number(choice) } : null;
}

function saidWith({ answer, words }: CodeAnswer): Said {
  if (answer === 'yes' || answer === 'no') return { is: answer };
  if (answer === 'answer') return { is: 'words', words: words.slice(0, confirmationBounds.reasonChars).toWellFormed() };
  return { is: 'option', number: answer };
}

async function decided(
  { secrets }: { readonly secrets: SecretBox },
  trx: Transaction,
  id: string,
  { accountId, agentId, channel, senderId, senderName }: FromSender,
  said: Said,
): Promise<Pressed> {
  const row = await findConfirmation(trx, id);
  if (row?.accountId !== accountId || row.agentId !== agentId) return notKnown;
  const { confirmations } = (await selectAgent(trx, agentId)) ?? { confirmations: null };
  if (confirmations === null || !isDecider(confirmations, channel, senderId)) return notNamed;
  const input = inputOf(secrets, row, said);
  if (input === null) return wrongForm;
  try {
    const { graceMs } = defaultConfirmationBounds;
    const sender = { channel, id: senderId, name: senderName };
    const { status, kind } = await decide({ secrets, graceMs }, trx, { accountId, id, sender }, input);
    if (kind === 'question')
      return { say: status === 'done' ? 'Answered.' : 'The agent is told that there is no answer.', close: false };
    return {
      say: status === 'denied' ? 'Denied: it is not done.' : 'Allowed once, as it was shown.',
      close: false,
    };
  } catch (error) {
    // It is refused before anything is written.
    if (!(error instanceof Refusal)) throw error;
    return { say: error.message.slice(0, maxSayChars), close: error.code !== 'invalid_request' };
  }
}

/** Null: this question has no such answer. */
function inputOf(secrets: SecretBox, { id, kind, shownSealed }: ConfirmationRow, said: Said): DecisionInput | null {
  const input = { reason: null, answer: null, remember: 'none' } as const;
  if (said.is === 'no') return { ...input, decision: 'deny' };
  if (kind !== 'question') return said.is === 'yes' ? { ...input, decision: 'allow' } : null;
  const { options } = JSON.parse(secrets.open(shownSealed, confirmationShownContext(id))) as Shown;
  const answer = said.is === 'option' ? options[said.number - 1] : said.is === 'words' ? said.words : undefined;
  return answer === undefined || answer === '' ? null : { ...input, decision: 'allow', answer };
}
