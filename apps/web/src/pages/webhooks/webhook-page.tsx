import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { Webhook } from '@lodge/sdk';
import { Webhook as WebhookIcon } from 'lucide-react';
import { hasCode } from '../../api.ts';
import { Code } from '../../components/badge.tsx';
import { Notice } from '../../components/notice.tsx';
import { Page, Section } from '../../components/page.tsx';
import { backLinkClass, BackWords } from '../../components/shown/links.tsx';
import { FactList } from '../../components/shown/facts.tsx';
import type { Fact } from '../../components/shown/facts.tsx';
import { Card } from '../../components/shown/cards.tsx';
import { EmptyState, Loaded } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { formatNumber } from '../../format.ts';
import { useMay } from '../../session.ts';
import { DeliveriesSection } from './deliveries-section.tsx';
import { webhookQuery } from './queries.ts';
import { WebhookActions } from './webhook-actions.tsx';
import { WebhookState } from './webhook-state.tsx';

const route = getRouteApi('/app/account/webhooks/$webhookId');

export function WebhookPage() {
  const { webhookId } = route.useParams();
  const { state } = route.useSearch();
  const webhook = useQuery(webhookQuery(webhookId));
  const mayChange = useMay('agents:write');
  return (
    <Page
      title="Webhook"
      description={
        <Link to="/account/webhooks" className={backLinkClass}>
          <BackWords>All webhooks</BackWords>
        </Link>
      }
      actions={mayChange && webhook.data !== undefined ? <WebhookActions webhook={webhook.data} /> : undefined}
    >
      {hasCode(webhook.error, 'webhook_not_found') ? (
        <Card>
          <EmptyState Icon={WebhookIcon} title="There is no such webhook">
            It was deleted, or it belongs to another account.
          </EmptyState>
        </Card>
      ) : (
        <Section title="Receiver">
          <Loaded query={webhook}>{(data) => <Facts webhook={data} />}</Loaded>
        </Section>
      )}
      {webhook.data !== undefined && <DeliveriesSection webhook={webhook.data} state={state} mayChange={mayChange} />}
    </Page>
  );
}

function Facts({ webhook }: { webhook: Webhook }) {
  return (
    <div className="flex flex-col gap-4 px-5 py-4 sm:px-6">
      <Trouble webhook={webhook} />
      <FactList facts={factsOf(webhook)} />
    </div>
  );
}

function factsOf(webhook: Webhook): readonly Fact[] {
  const { url, description, events, secret_last4: last4, previous_secret_until: until, pending } = webhook;
  return [
    ['URL', <span className="font-mono text-[0.8125rem]">{url}</span>],
    ['Description', description === '' ? null : description],
    ['State', <WebhookState webhook={webhook} />],
    [
      'Events',
      <span className="flex flex-wrap gap-1">
        {events.map((pattern) => (
          <Code key={pattern}>{pattern}</Code>
        ))}
      </span>,
    ],
    [
      'Secret',
      <>
        ends with <Code>{last4}</Code>
        {until !== null && (
          <span className="text-muted">
            {' '}
            · the earlier one signs until <Time value={until} />
          </span>
        )}
      </>,
    ],
    ['Waiting', pending === 0 ? 'Nothing' : `${formatNumber(pending)} ${pending === 1 ? 'delivery' : 'deliveries'}`],
  ];
}

/** Why it is told nothing, or may soon be. */
function Trouble({ webhook: { enabled, disabled_reason: reason, failing_since: since } }: { webhook: Webhook }) {
  if (!enabled && reason !== null) {
    return (
      <Notice kind="error">
        Lodge disabled it: {reason} Enable it once your server takes events again; it goes on from there.
      </Notice>
    );
  }
  if (enabled && since !== null) {
    return (
      <Notice kind="warning">
        Every attempt has failed since <Time value={since} as="date" />. After a day without success it is disabled.
      </Notice>
    );
  }
  return null;
}
