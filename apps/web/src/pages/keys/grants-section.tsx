import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api.ts';
import type { Grant } from '../../api.ts';
import { Code } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { Section } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toasts/toasts.tsx';
import { queries } from '../../queries.ts';
import { Quoted } from '../consent/facts.tsx';

/** Programs that the person gave access to. Without any the page says nothing of them. */
export function GrantsSection() {
  const grants = useQuery(queries.grants);
  const [revoking, setRevoking] = useState<Grant>();
  if (grants.data === undefined || grants.data.length === 0) return null;
  return (
    <Section title="Programs with access" description="Each renews its access by itself, until it is revoked.">
      <ul className="divide-y divide-line">
        {grants.data.map((grant) => (
          <GrantRow key={grant.id} grant={grant} revoke={() => setRevoking(grant)} />
        ))}
      </ul>
      {revoking !== undefined && <RevokeDialog grant={revoking} onClose={() => setRevoking(undefined)} />}
    </Section>
  );
}

function GrantRow({ grant, revoke }: { grant: Grant; revoke: () => void }) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-3 px-5 py-4 sm:px-6">
      <div className="flex min-w-40 grow basis-0 flex-col gap-1">
        <p className="font-medium wrap-anywhere">
          <Quoted>{grant.client_name}</Quoted>
        </p>
        <p className="text-[0.8125rem] text-muted">
          {grant.redirect_host} · {grant.last_used_at === null ? 'given' : 'last used'}{' '}
          <Time value={grant.last_used_at ?? grant.created_at} />
        </p>
        <p className="flex flex-wrap gap-1">
          {grant.scopes.map((scope) => (
            <Code key={scope}>{scope}</Code>
          ))}
        </p>
      </div>
      <Button
        small
        variant="ghost-danger"
        aria-label={`Revoke the access of ${grant.client_name}`}
        onClick={revoke}
        className="-mr-3"
      >
        Revoke
      </Button>
    </li>
  );
}

function RevokeDialog({ grant, onClose }: { grant: Grant; onClose: () => void }) {
  const queryClient = useQueryClient();
  return (
    <ConfirmDialog
      title={`Revoke the access of “${grant.client_name}”?`}
      action="Revoke access"
      run={() => api.revokeGrant(grant.id)}
      onClose={onClose}
      onDone={() => {
        toast('The access is revoked.');
        void queryClient.invalidateQueries(queries.grants);
      }}
    >
      The program stops working within a second. It may ask you again.
    </ConfirmDialog>
  );
}
