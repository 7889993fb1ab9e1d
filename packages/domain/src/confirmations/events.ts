/** Events of confirmations. No event contains the agent's words, or a call's contents. */
import type { ChannelName } from '../channels/channel.ts';
import { kind, told } from '../events/kind.ts';
import type { ConfirmationDecision, ConfirmationKind, ConfirmationMemory } from './confirmation.ts';

type Of = { readonly confirmation_id: string; readonly kind: ConfirmationKind; readonly on: string };

/** `channel` and `sender_id`: the person who decided in a conversation. */
type Decided = Of & {
  readonly decision: ConfirmationDecision;
  readonly remember: ConfirmationMemory;
  readonly channel?: ChannelName;
  readonly sender_id?: string;
};

export const confirmationEvents = {
  'confirmation.requested': kind<Of & { readonly digest: string; readonly expires_at: string }>({
    level: 'info',
    public: 'The agent wants to make a call that somebody must allow, or asks a question.',
    sentence: ({ on, kind: of }) => (of === 'question' ? 'Asks its owner.' : `Waits for a yes: ${on}.`),
  }),
  'confirmation.decided': kind<Decided>({
    level: 'info',
    public: 'Somebody allowed or denied the call, or answered the question.',
    sentence: ({ on, decision, kind: of }) =>
      of === 'question' ? 'Its owner answered.' : `Somebody said ${decision === 'allow' ? 'yes' : 'no'}: ${on}.`,
  }),
  'confirmation.expired': told<Of>('Nobody decided in time: the call is not made.'),
  'confirmation.done': kind<Of & { readonly status: string }>({
    level: 'info',
    public:
      'An allowed call came to its end. `status` is `done`, `failed` where it was not made, or `unknown` where it may have been made.',
    sentence: ({ on, status }) => `An allowed call ended as ${status}: ${on}.`,
  }),
} as const;
