import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { MonitorCheck, MonitorX } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api.ts';
import type { DeviceRequest } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/form/field.tsx';
import { Form } from '../../components/form/form.tsx';
import { focusHeading } from '../../components/form/focus.ts';
import { Failure } from '../../components/notice.tsx';
import { Page, Section } from '../../components/page.tsx';
import { EmptyState, Loaded } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { text, useForm } from '../../components/form/use-form.ts';
import { queries } from '../../queries.ts';
import { ConsentForm } from './consent-form.tsx';
import { Facts, Quoted } from './facts.tsx';

const route = getRouteApi('/app/account/device');

/** Where a person gives a key to a machine that shows a code. */
export function DevicePage() {
  const { user_code: code } = route.useSearch();
  const [outcome, setOutcome] = useState<'approved' | 'denied'>();
  const end = (what: 'approved' | 'denied'): void => {
    setOutcome(what);
    focusHeading();
  };
  return (
    <Page title="Sign a machine in" description="A program that shows a code asks for an API key of your account.">
      {outcome !== undefined ? (
        <Outcome outcome={outcome} />
      ) : code === undefined ? (
        <CodeForm />
      ) : (
        <Asked key={code} code={code} onEnd={end} />
      )}
    </Page>
  );
}

function CodeForm() {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const form = useForm({
    check: (data): { user_code?: string } =>
      text(data, 'user_code').trim() === '' ? { user_code: 'Enter the code that the machine shows.' } : {},
    send: async (data) => {
      const code = text(data, 'user_code').trim();
      await queryClient.fetchQuery(queries.deviceRequest(code));
      return code;
    },
    done: (code) => navigate({ to: '/account/device', search: { user_code: code }, replace: true }),
  });
  return (
    <Section title="Enter the code">
      <Form form={form} className="flex max-w-sm flex-col gap-4 p-5 sm:px-6">
        <Failure error={form.failure} />
        <TextField
          label="Code"
          name="user_code"
          maxLength={32}
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          placeholder="BCDF-GHJK"
          className="font-mono tracking-wider"
          error={form.problems.user_code}
        />
        <Button type="submit" variant="primary" pending={form.pending} className="self-start">
          Continue
        </Button>
      </Form>
    </Section>
  );
}

function Asked({ code, onEnd }: { code: string; onEnd: (outcome: 'approved' | 'denied') => void }) {
  const request = useQuery(queries.deviceRequest(code));
  return (
    <Section title="Do you sign this machine in?">
      <Loaded query={request}>{(data) => <Decision code={code} request={data} onEnd={onEnd} />}</Loaded>
    </Section>
  );
}

function Decision({
  code,
  request,
  onEnd,
}: {
  code: string;
  request: DeviceRequest;
  onEnd: (outcome: 'approved' | 'denied') => void;
}) {
  const queryClient = useQueryClient();
  const done = (_answer: unknown, isApproved: boolean): void => {
    onEnd(isApproved ? 'approved' : 'denied');
    if (isApproved) void queryClient.invalidateQueries(queries.keys);
  };
  return (
    <ConsentForm
      legend="What its key may do"
      warning="Approve only what you have just begun yourself. Whoever sent you this code gets the key, whatever the name says."
      agree="Approve"
      scopes={request.scopes}
      send={(decision) => api.decideDevice({ user_code: code, ...decision })}
      done={done}
    >
      <p>
        Compare the code: your machine must show{' '}
        <strong className="rounded-control bg-sunken px-2 py-1 font-mono tracking-wider">{code.toUpperCase()}</strong>
      </p>
      <Facts
        facts={[
          ['Calls itself', <Quoted key="name">{request.client_name}</Quoted>],
          ['Asked from', request.address],
          ['Asked', <Time key="time" value={request.created_at} />],
        ]}
      />
    </ConsentForm>
  );
}

function Outcome({ outcome }: { outcome: 'approved' | 'denied' }) {
  return (
    <div className="rounded-card border border-line bg-surface shadow-card">
      {outcome === 'approved' ? (
        <EmptyState Icon={MonitorCheck} title="The machine is signed in">
          It fetches its key now. You may close this page; the key stands among your API keys, where you can revoke it.
        </EmptyState>
      ) : (
        <EmptyState Icon={MonitorX} title="Denied">
          The machine gets nothing, and is told so. You may close this page.
        </EmptyState>
      )}
    </div>
  );
}
