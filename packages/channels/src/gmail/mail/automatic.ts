/** Mail that nobody waits for an answer to: answering it annoys people, or is how two machines talk all night (RFC 3834). */
import type { Header, Sender } from './sender.ts';

export const skipReasons = ['own', 'automatic', 'list', 'bounce', 'unproved', 'no_sender', 'unreadable'] as const;
export type SkipReason = (typeof skipReasons)[number];

/** On every mail of ours, with the key of its part. */
export const partHeader = 'X-Lodge-Part';

/** Addresses that nobody reads. */
const deafNames = ['mailer-daemon', 'postmaster', 'noreply', 'no-reply', 'no_reply', 'donotreply', 'do-not-reply'];

/** Why a mail is not for the agent; null: it may be. */
export function automaticReason(headers: readonly Header[], sender: Sender, mailbox: string): SkipReason | null {
  const first = (name: string): string | null =>
    headers
      .find(({ key }) => key === name)
      ?.value.trim()
      .toLowerCase()
      .slice(0, 200) ?? null;
  const has = (...names: string[]): boolean => headers.some(({ key }) => names.includes(key));

  if (sender.address === mailbox || has(partHeader.toLowerCase())) return 'own';
  const [localName = ''] = sender.address.split('@', 1);
  const isReport = first('content-type')?.startsWith('multipart/report') ?? false;
  if (first('return-path') === '<>' || localName === 'mailer-daemon' || isReport) return 'bounce';
  if (has('list-id', 'list-unsubscribe', 'list-post') || ['bulk', 'junk', 'list'].includes(first('precedence') ?? ''))
    return 'list';
  const submitted = first('auto-submitted')?.split(';', 1)[0]?.trim() ?? 'no';
  const suppressed = first('x-auto-response-suppress') ?? '';
  const isAutomatic =
    submitted !== 'no' ||
    has('x-autoreply', 'x-autorespond', 'x-auto-reply') ||
    suppressed.includes('all') ||
    suppressed.includes('autoreply') ||
    deafNames.includes(localName);
  return isAutomatic ? 'automatic' : null;
}
