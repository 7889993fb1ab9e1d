/** What happens with connections of agents. No event has a credential, nor words of a server. */
import { kind, quiet } from './kind.ts';

type Of = { readonly connection: string };

export const connectionEvents = {
  'connection.put': quiet<Of & { readonly kind: string; readonly enabled: boolean }>(),
  'connection.removed': quiet<Of>(),
  'connection.connected': kind<Of>({
    level: 'info',
    public: 'Somebody consented: the agent has the tools of the connection.',
    sentence: ({ connection }) => `Connection ${connection} has the consent that it needs.`,
  }),
  'connection.consent_needed': kind<Of & { readonly message: string }>({
    level: 'warn',
    public: 'The connection lost its access, and waits for a consent; `message` says why.',
    sentence: ({ connection, message }) => `Connection ${connection} needs a consent: ${message}`,
  }),
} as const;
