/** Events of agents' connections. No event contains a credential or a server's words. */
import { kind, told } from '../events/kind.ts';

type Of = { readonly connection: string };

export const connectionEvents = {
  'connection.put': told<Of & { readonly kind: string; readonly enabled: boolean }>(
    'A connection was made or changed; its credential is in no event.',
  ),
  'connection.removed': told<Of>('A connection was removed.'),
  'connection.connected': kind<Of>({
    level: 'info',
    public: 'Somebody consented: the agent may use the connection.',
    sentence: ({ connection }) => `Connection ${connection} has the consent that it needs.`,
  }),
  'connection.consent_needed': kind<Of & { readonly message: string }>({
    level: 'warn',
    public: 'The connection lost its access, and waits for a consent; `message` says why.',
    sentence: ({ connection, message }) => `Connection ${connection} needs a consent: ${message}`,
  }),
  'connection.answer_refused': kind<Of & { readonly count: number; readonly disabled: boolean }>({
    level: 'warn',
    public:
      'An answer of the server held the credential of the connection, and was refused; `count` are within an hour. With `disabled` the connection is used no more until it is put again.',
    sentence: ({ connection, count, disabled }) =>
      `Connection ${connection}: an answer held its credential and was refused, ${count} within an hour.${disabled ? ' The connection is disabled until its owner puts it again.' : ''}`,
  }),
} as const;
