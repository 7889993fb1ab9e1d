/**
 * Events of inbound hooks. No event contains a third party's text. An event contains the text of an answer only when the
 * hook's owner requests it.
 */
import type { DeliverTarget } from '../answer-delivery.ts';
import { kind, told } from '../events/kind.ts';
import { duration } from '../events/words.ts';

type Of = { readonly hook_id: string; readonly name: string };
type Message = Of & { readonly message_id: string };
type Answered = Message & {
  readonly duration_ms: number;
  readonly attempts: number;
  readonly deliver: DeliverTarget;
  readonly answer?: string;
};

export const hookEvents = {
  'hook.created': told<Of>('A hook was made; its address is in no event.'),
  'hook.removed': told<Of>('A hook was deleted.'),
  'hook.received': kind<Message>({
    level: 'info',
    public: "A third party's request to a hook was taken up as a message to the agent.",
    sentence: null,
  }),
  'hook.answered': kind<Answered>({
    level: 'info',
    public: 'The agent answered a message of a hook. With `deliver` `webhook` the event has the answer, up to 16 KiB.',
    sentence: ({ name, duration_ms }) => `A message of hook "${name}" was answered (${duration(duration_ms)}).`,
  }),
  'hook.failed': kind<Message & { readonly reason: string; readonly attempts: number }>({
    level: 'warn',
    public: 'A message of a hook failed for good; `reason` says why.',
    sentence: ({ name, reason }) => `A message of hook "${name}" failed: ${reason}`,
  }),
  'hook.skipped': kind<Message & { readonly reason: string }>({
    level: 'warn',
    public: 'A message of a hook was left out: the agent did not run, and nothing may wake it.',
    sentence: ({ name, reason }) => `A message of hook "${name}" was left out: ${reason}`,
  }),
} as const;
