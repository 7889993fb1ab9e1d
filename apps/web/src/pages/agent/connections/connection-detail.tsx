import type { Connection } from '@lodge/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Badge, Code } from '../../../components/badge.tsx';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { Failure, Notice } from '../../../components/notice.tsx';
import { Section } from '../../../components/page.tsx';
import { FactList } from '../../../components/shown/facts.tsx';
import type { Fact } from '../../../components/shown/facts.tsx';
import { Time } from '../../../components/time.tsx';
import { toast } from '../../../components/toasts/toasts.tsx';
import { CallsSection } from './calls-section.tsx';
import { ConsentSection } from './consent-section.tsx';
import { connectionChanges, keptOf } from './queries.ts';
import { connectionStatus, kindTitles } from './status.ts';

interface DetailProps {
  readonly connection: Connection;
  readonly mayChange: boolean;
  readonly onEdit: () => void;
  readonly onDeleted: () => void;
}

export function ConnectionDetail({ connection, mayChange, onEdit, onDeleted }: DetailProps) {
  const { status_reason: reason, oauth } = connection;
  return (
    <>
      <Section
        title="Connection"
        actions={mayChange && <Verbs connection={connection} onEdit={onEdit} onDeleted={onDeleted} />}
      >
        <div className="flex flex-col gap-4 px-5 py-5 sm:px-6">
          <FactList facts={factsOf(connection)} />
          {reason !== null && <Notice kind="error">{reason}</Notice>}
        </div>
      </Section>
      {oauth !== null && <ConsentSection connection={connection} oauth={oauth} mayChange={mayChange} />}
      <CallsSection agentId={connection.agent_id} name={connection.name} />
    </>
  );
}

function factsOf(connection: Connection): readonly Fact[] {
  const { kind, url, hosts, headers, secrets, allow, tools, guest_path: path, auth } = connection;
  const { label, tone } = connectionStatus(connection);
  const names = Object.entries(headers);
  const variables = Object.entries(secrets);
  return [
    ['State', <Badge tone={tone}>{label}</Badge>],
    ['Kind', kindTitles[kind]],
    ['Address', <span className="font-mono text-[0.8125rem]">{kind === 'host' ? hosts.join(', ') : url}</span>],
    ['In the machine', path === null ? null : <Code>{`http://10.0.2.2:4000${path}`}</Code>],
    ['Headers', names.length === 0 ? null : names.map(([name, { last4 }]) => `${name} (…${last4})`).join(', ')],
    [
      'Secrets',
      variables.length === 0
        ? null
        : variables.map(([name, { last4, in: places }]) => `${name} (…${last4}) in ${places.join(', ')}`).join('; '),
    ],
    ['OAuth client', auth === null ? null : (auth.client_id ?? 'Registered by itself')],
    ['Authorization server', auth?.token_url == null ? null : new URL(auth.token_url).origin],
    ['May ask', kind !== 'mcp' ? <Allowed allow={allow} /> : null],
    ['Tools', kind === 'mcp' ? <Tools tools={tools} /> : null],
    ['Changed', <Time value={connection.updated_at} />],
  ];
}

function Allowed({ allow }: { readonly allow: Connection['allow'] }) {
  return (
    <ul className="flex flex-col gap-1 font-mono text-[0.8125rem]">
      {allow.map((one, index) => (
        <li key={index}>{`${one.methods.join(', ')} ${one.paths.join(', ')}`}</li>
      ))}
    </ul>
  );
}

function Tools({ tools }: { readonly tools: Connection['tools'] }) {
  if (tools === null) return 'All that the server has';
  return (
    <span className="flex flex-wrap gap-1">
      {tools.map((tool) => (
        <Code key={tool}>{tool}</Code>
      ))}
    </span>
  );
}

function Verbs({ connection, onEdit, onDeleted }: Omit<DetailProps, 'mayChange'>) {
  const { agent_id: agentId, name, enabled } = connection;
  const queryClient = useQueryClient();
  const changes = connectionChanges(agentId);
  const [deleting, setDeleting] = useState(false);
  const again = () => queryClient.invalidateQueries({ queryKey: ['agent', agentId, 'connections'] });
  const turn = useMutation({
    mutationFn: () => changes.put(name, { ...keptOf(connection), enabled: !enabled }),
    onSuccess: () => toast(enabled ? 'The connection is off.' : 'The connection is on.'),
    onSettled: again,
  });
  return (
    <div className="flex flex-col items-end gap-2">
      <div className="flex flex-wrap gap-2">
        <Button small pending={turn.isPending} onClick={() => turn.mutate()}>
          {enabled ? 'Turn off' : 'Turn on'}
        </Button>
        <Button small onClick={onEdit}>
          Edit
        </Button>
        <Button small variant="ghost-danger" onClick={() => setDeleting(true)}>
          Delete
        </Button>
      </div>
      <Failure error={turn.error} />
      {deleting && (
        <ConfirmDialog
          title={`Delete the connection ${name}?`}
          action="Delete connection"
          run={() => changes.remove(name)}
          onClose={() => setDeleting(false)}
          onDone={() => {
            toast('The connection is deleted.');
            void again();
            onDeleted();
          }}
        >
          The agent loses it with its next call, and its credentials are deleted here. A consent stays at the
          authorization server: take it back there.
        </ConfirmDialog>
      )}
    </div>
  );
}
