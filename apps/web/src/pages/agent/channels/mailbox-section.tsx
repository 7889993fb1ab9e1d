import type { Channel } from '@lodge/sdk';
import { useRef } from 'react';
import { change, lodge } from '../../../api.ts';
import { Button } from '../../../components/button.tsx';
import { TextField } from '../../../components/form/field.tsx';
import { Section } from '../../../components/page.tsx';
import { ConsentProgress } from '../answers/consent-progress.tsx';
import { useConsent } from '../answers/use-consent.ts';

/** The consent for a mailbox of Gmail, in a window of its own. */
export function MailboxSection({ channel }: { readonly channel: Channel }) {
  const { agent_id: agentId, status, updated_at: updated } = channel;
  const hint = useRef<HTMLInputElement>(null);
  const isConnected = status === 'connected' || status === 'connecting';
  const consent = useConsent(
    () => {
      const address = hint.current?.value.trim() ?? '';
      const body = { redirect_url: location.href, ...(address === '' ? {} : { login_hint: address }) };
      return change(() => lodge.channels.startGmailOAuth(agentId, body));
    },
    isConnected,
    `${status} ${updated}`,
  );
  return (
    <Section
      title={isConnected ? 'Mailbox' : 'Connect the mailbox'}
      description="Google asks for a consent in a window of its own. Agree there as the mailbox."
    >
      <form
        aria-label="Connect the mailbox"
        onSubmit={(event) => {
          event.preventDefault();
          if (!consent.isStarting) consent.begin();
        }}
        className="flex flex-col gap-5 px-5 py-5 sm:px-6"
      >
        <TextField
          ref={hint}
          label="Address of the mailbox"
          optional
          name="login_hint"
          type="email"
          autoComplete="off"
          maxLength={254}
          hint="Given one, no other mailbox is taken."
        />
        <ConsentProgress consent={consent} />
        <div>
          <Button type="submit" variant={isConnected ? 'secondary' : 'primary'} pending={consent.isStarting}>
            {isConnected ? 'Connect again' : 'Connect mailbox'}
          </Button>
        </div>
      </form>
    </Section>
  );
}
