import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api.ts';
import type { AuthorizationQuestion, AuthorizationRequest } from '../../api.ts';
import { Page, Section } from '../../components/page.tsx';
import { Loaded } from '../../components/states.tsx';
import { queries } from '../../queries.ts';
import { useAccount } from '../../session.ts';
import { ConsentForm } from './consent-form.tsx';
import { Facts, Quoted } from './facts.tsx';

const route = getRouteApi('/app/account/authorize');

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
  if (isLeaving) {
    return (
      <p role="status" className="p-5 sm:px-6">
        You are led back to {request.redirect_host}. If nothing happens, return to the program yourself.
      </p>
    );
  }
  return (
    <ConsentForm
      legend="What it may do"
      warning="Anyone may choose a name. Agree only if you have just begun this in the program itself. You can end its access under API Keys."
      agree="Give access"
      scopes={request.scopes}
      send={(decision) => api.decideAuthorization({ ...question, ...decision })}
      done={leave}
    >
      <Facts
        facts={[
          ['Calls itself', <Quoted key="name">{request.client_name}</Quoted>],
          ...(request.client_host === null ? [] : [['Published by', request.client_host] as const]),
          ['Answer goes to', request.redirect_host],
          ['Your account', account.email ?? account.name],
        ]}
      />
    </ConsentForm>
  );
}
