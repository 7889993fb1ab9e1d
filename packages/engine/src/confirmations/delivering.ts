/**
 * Asks the owner in the conversations that the agent's field names, within the transaction that writes the confirmation, and
 * closes those messages in the one that ends it. A conversation that cannot be written to is left out.
 */
import { randomInt } from 'node:crypto';
import { choiceBounds, platformOf } from '@lodge/domain';
import type { ChannelName, Choice, Confirmations } from '@lodge/domain';
import { askingMessages, insertConfirmationMessage } from '@lodge/store/confirmations';
import type { ConfirmationRow } from '@lodge/store/confirmations';
import type { Transaction } from '@lodge/store/database';
import { closeChoices, queueInConversation } from '../channels/conversations.ts';
import { askingText, closedText, plain } from './asking-text.ts';
import type { Shown } from './shown.ts';

export async function deliver(
  trx: Transaction,
  row: ConfirmationRow,
  shown: Shown,
  confirmations: Confirmations | null,
): Promise<void> {
  const { id, accountId, agentId, digest, expiresAt } = row;
  const isQuestion = row.kind === 'question';
  for (const { channel, conversation: conversationId } of confirmations?.deliver ?? []) {
    const code = needsCode(channel, row, shown) ? String(randomInt(100_000, 1_000_000)) : null;
    const text = askingText(shown, { code, isQuestion, digest, expiresAt });
    const choices = platformOf(channel).hasButtons ? choicesOf(row, shown) : null;
    const to = { accountId, agentId, channel, conversationId };
    const queued = await queueInConversation(trx, to, { text, files: [], ...(choices && { choices }) });
    if (typeof queued === 'string') continue;
    const message = { confirmationId: id, agentId, channel, conversationId, answerId: queued.id, code };
    await insertConfirmationMessage(trx, message);
  }
}

/** An answer in words needs a code everywhere. */
const needsCode = (channel: ChannelName, { kind }: ConfirmationRow, { options }: Shown): boolean =>
  !platformOf(channel).hasButtons || (kind === 'question' && options.length === 0);

function choicesOf({ id, kind }: ConfirmationRow, { options }: Shown): readonly Choice[] {
  if (kind !== 'question') {
    return [
      { token: tokenOf(id, 'allow'), label: 'Allow' },
      { token: tokenOf(id, 'deny'), label: 'Deny' },
    ];
  }
  const answers = options.map((option, at) => ({ token: tokenOf(id, String(at + 1)), label: labelOf(option, at + 1) }));
  return [...answers, { token: tokenOf(id, 'deny'), label: 'No answer' }];
}

function labelOf(option: string, number: number): string {
  const label = `${number}. ${option.replaceAll(/\s/g, ' ')}`;
  return label.length <= choiceBounds.labelChars
    ? label
    : `${label.slice(0, choiceBounds.labelChars - 1).toWellFormed()}…`;
}

const tokenOf = (id: string, choice: string): string => `${id}-${choice}`;

/** The parts of a token; null for one of another form. */
export function choiceOf(token: string): { readonly id: string; readonly choice: string } | null {
  const at = token.lastIndexOf('-');
  return at === -1 ? null : { id: token.slice(0, at), choice: token.slice(at + 1) };
}

/** Takes the buttons away wherever somebody was asked. `by`: a sender's own name for themselves. */
export async function closeMessages(trx: Transaction, row: ConfirmationRow, by: string | null = null): Promise<void> {
  const sentence = endOf(row, by === null ? '' : ` by ${plain(by).slice(0, 60).toWellFormed()}`);
  for (const { channel, answerId, text } of await askingMessages(trx, row.id)) {
    await closeChoices(trx, { channel, answerId }, closedText(text, sentence));
  }
}

function endOf({ kind, status }: ConfirmationRow, by: string): string {
  if (status === 'expired') return 'Nobody decided in time: it is not done.';
  if (status === 'denied') return kind === 'question' ? `Not answered, as decided${by}.` : `Denied${by}.`;
  return kind === 'question' ? `Answered${by}.` : `Allowed${by}.`;
}
