import type { Connection } from '@lodge/sdk';
import { Button } from '../../../components/button.tsx';
import { Notice } from '../../../components/notice.tsx';
import { Section } from '../../../components/page.tsx';
import { FactList } from '../../../components/shown/facts.tsx';
import { Time } from '../../../components/time.tsx';
import { ConsentProgress } from '../answers/consent-progress.tsx';
import { cut } from '../answers/stranger.tsx';
import { useConsent } from '../answers/use-consent.ts';
import { connectionChanges } from './queries.ts';

interface ConsentProps {
  readonly connection: Connection;
  readonly oauth: NonNullable<Connection['oauth']>;
  readonly mayChange: boolean;
}

/** The consent that a server asks for: how it is, and the way to give it. */
export function ConsentSection({ connection, oauth, mayChange }: ConsentProps) {
  const { agent_id: agentId, name, kind } = connection;
  const isConnected = oauth.status === 'connected';
  const consent = useConsent(() => connectionChanges(agentId).startOAuth(name), isConnected, JSON.stringify(oauth));
  return (
    <Section
      title="Consent"
      description="The server asks for OAuth: a person agrees in a browser, and Lodge renews it."
    >
      <div className="flex flex-col gap-4 px-5 py-5 sm:px-6">
        {!isConnected && (
          <Notice kind="warning">
            {oauth.status === 'needed'
              ? `Somebody must consent before the agent ${kind === 'mcp' ? 'has the tools' : 'can use it'}.`
              : 'Access was not renewed.'}
            {oauth.reason !== null && ` ${cut(oauth.reason, 500)}`}
          </Notice>
        )}
        {isConnected && (
          <FactList
            facts={[
              ['Granted', oauth.scope === null ? 'What the server names' : cut(oauth.scope, 500)],
              ['Renewed before', oauth.expires_at === null ? null : <Time value={oauth.expires_at} />],
            ]}
          />
        )}
        <ConsentProgress consent={consent} />
        {mayChange && (
          <div>
            <Button
              variant={isConnected ? 'secondary' : 'primary'}
              pending={consent.isStarting}
              onClick={consent.begin}
            >
              {isConnected ? 'Consent again' : 'Give consent'}
            </Button>
          </div>
        )}
      </div>
    </Section>
  );
}
