import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api.ts';
import type { AuthorizationQuestion, AuthorizationRequest } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Failure, Notice } from '../../components/notice.tsx';
import { Page, Section } from '../../components/page.tsx';
import { ScopesField, scopesOf } from '../../components/scopes-field.tsx';
import { Loaded } from '../../components/states.tsx';
import { useForm } from '../../components/use-form.ts';
import { queries } from '../../queries.ts';
import { useAccount } from '../../session.ts';
import { Facts, Quoted } from './facts.tsx';

const route = getRouteApi('/app/authorize');

/** Where a person gives a program access, or refuses it. The program's request is in the address, as OAuth has it. */
export function AuthorizePage() {
  const question = route.useSearch();
  const request = useQuery(queries.authorization(question));
  return (
    <Page title="Give a program access" description="A program asks to act for your account.">
      <Section title="Do you give it access?">
        <Loaded query={request}>{(data) => <Decision question={question} request={data} />}</Loaded>
      </Section>
    </Page>
  );
}

function Decision({ question, request }: { question: AuthorizationQuestion; request: AuthorizationRequest }) {
  const account = useAccount();
  const [isLeaving, setLeaving] = useState(false);
  /** The address is one that the program registered; the server made it. */
  const leave = ({ redirect_to: to }: { redirect_to: string }): void => {
    setLeaving(true);
    location.assign(to);
  };
  const form = useForm({
    check: (data): { scopes?: string } =>
      scopesOf(data).length === 0 ? { scopes: 'Choose at least one scope, or deny.' } : {},
    send: (data) => api.decideAuthorization({ ...question, approve: true, scopes: scopesOf(data) }),
    done: leave,
  });
  const deny = useMutation({
    mutationFn: () => api.decideAuthorization({ ...question, approve: false }),
    onSuccess: leave,
  });
  if (isLeaving) {
    return (
      <p role="status" className="p-5 sm:px-6">
        You are led back to {request.redirect_host}. If nothing happens, return to the program yourself.
      </p>
    );
  }
  return (
    <form {...form.props} className="flex flex-col gap-5 p-5 sm:px-6">
      <Facts
        facts={[
          ['Calls itself', <Quoted key="name">{request.client_name}</Quoted>],
          ...(request.client_host === null ? [] : [['Published by', request.client_host] as const]),
          ['Answer goes to', request.redirect_host],
          ['Your account', account.email ?? account.name],
        ]}
      />
      <Notice kind="warning">
        Anyone may choose a name. Agree only if you have just begun this in the program itself. You can end its access
        under API Keys.
      </Notice>
      {request.scopes.length === 0 ? (
        <Notice kind="info">It asks for nothing that your role may give.</Notice>
      ) : (
        <ScopesField legend="What it may do" offered={request.scopes} all error={form.problems.scopes} />
      )}
      <Failure error={form.failure ?? deny.error} />
      <div className="flex flex-wrap gap-3">
        {request.scopes.length > 0 && (
          <Button type="submit" variant="primary" pending={form.pending}>
            Give access
          </Button>
        )}
        <Button pending={deny.isPending} onClick={() => deny.mutate()}>
          Deny
        </Button>
      </div>
    </form>
  );
}
