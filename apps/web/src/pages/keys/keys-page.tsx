import { useQuery, useQueryClient } from '@tanstack/react-query';
import { KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api.ts';
import type { KeyRecord } from '../../api.ts';
import { Code } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { Page } from '../../components/page.tsx';
import { EmptyState, Loaded } from '../../components/states.tsx';
import { useOpen } from '../../components/form/use-typed.ts';
import { toast } from '../../components/toasts/toasts.tsx';
import { queries } from '../../queries.ts';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { GrantsSection } from './grants-section.tsx';
import { KeyTable } from './key-table.tsx';

export function KeysPage() {
  const keys = useQuery(queries.keys);
  const options = useQuery(queries.options);
  const [creating, setCreating] = useOpen('key');
  const [revoking, setRevoking] = useState<KeyRecord>();
  const create = (
    <Button variant="primary" onClick={() => setCreating(true)}>
      <Plus aria-hidden className="size-4" />
      Create New Key
    </Button>
  );
  return (
    <Page
      title="API Keys"
      description={
        <>
          A key lets a program act for your account, within its scopes.
          {options.data !== undefined && (
            <span className="mt-1 block">
              Base URL: <Code>{options.data.api_base_url}</Code>
            </span>
          )}
        </>
      }
      actions={create}
    >
      <div className="overflow-hidden rounded-card border border-line bg-surface shadow-card">
        <Loaded query={keys}>
          {(data) =>
            data.length === 0 ? (
              <EmptyState Icon={KeyRound} title="No keys yet">
                Create one for each program that uses the API, with only the scopes it needs.
              </EmptyState>
            ) : (
              <KeyTable keys={data} revoke={setRevoking} />
            )
          }
        </Loaded>
      </div>
      <GrantsSection />
      {creating && <CreateKeyDialog onClose={() => setCreating(false)} />}
      {revoking !== undefined && <RevokeDialog record={revoking} onClose={() => setRevoking(undefined)} />}
    </Page>
  );
}

function RevokeDialog({ record, onClose }: { record: KeyRecord; onClose: () => void }) {
  const queryClient = useQueryClient();
  return (
    <ConfirmDialog
      title={`Revoke “${record.name}”?`}
      action="Revoke key"
      run={() => api.revokeKey(record.id)}
      onClose={onClose}
      onDone={() => {
        toast(`“${record.name}” is revoked.`);
        void queryClient.invalidateQueries(queries.keys);
      }}
    >
      Whatever uses the key ending in <Code>{record.last4}</Code> stops working within a second. This cannot be undone.
    </ConfirmDialog>
  );
}
