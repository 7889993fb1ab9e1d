import { api } from '../../api.ts';
import { LinkPage } from './link-page.tsx';
import { NewAccountForm } from './new-account-form.tsx';

export function SetupPage() {
  return (
    <LinkPage kind="owner" title="Set up Lodge" description="Choose how you, the owner of this Lodge, sign in.">
      {(token) => <NewAccountForm email={null} action="Finish set-up" send={(body) => api.setUp({ ...body, token })} />}
    </LinkPage>
  );
}

export function JoinPage() {
  return (
    <LinkPage
      kind="invite"
      title="Join this Lodge"
      description="You have been invited. Your agents, keys and usage are yours alone."
    >
      {(token, link) => (
        <NewAccountForm
          email={link.email}
          action="Create account"
          send={(body) => api.acceptInvitation({ ...body, token })}
        />
      )}
    </LinkPage>
  );
}
