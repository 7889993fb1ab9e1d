import type { Connection } from '@lodge/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { TextField } from '../../../components/form/field.tsx';
import { CheckField } from '../../../components/form/check-field.tsx';
import { ChoiceField } from '../../../components/form/choice-field.tsx';
import { TextAreaField } from '../../../components/form/text-area-field.tsx';
import { changedParts } from '../../../components/form/changed.ts';
import { FormSection } from '../../../components/form/form-section.tsx';
import { toast } from '../../../components/toasts/toasts.tsx';
import type { Problems } from '../../../components/form/use-form.ts';
import { text, useForm } from '../../../components/form/use-form.ts';
import { AccessFields } from './access-fields.tsx';
import { AllowFields } from './allow-fields.tsx';
import { checkConnection, connectionOf } from './form-data.ts';
import { connectionChanges, connectionsQuery, keptOf } from './queries.ts';
import { kindTitles } from './status.ts';

interface FormProps {
  readonly agentId: string;
  /** Undefined: a new one is made. */
  readonly connection: Connection | undefined;
  readonly onDone: (connection: Connection) => void;
  readonly onCancel: () => void;
}

export function ConnectionForm({ agentId, connection, onDone, onCancel }: FormProps) {
  const queryClient = useQueryClient();
  const [kind, setKind] = useState<Connection['kind']>(connection?.kind ?? 'http');
  const form = useForm<string, Connection>({
    keep: `connection:${agentId}:${connection?.name ?? ''}`,
    check: checkConnection,
    send: async (data, before) => {
      const after = connectionOf(data, connection);
      if (connection === undefined) return connectionChanges(agentId).put(text(data, 'name'), after);
      // A PUT replaces it: others may have changed meanwhile what nobody touched here.
      const all = await queryClient.fetchQuery({ ...connectionsQuery(agentId), staleTime: 0 });
      const now = all.find(({ name }) => name === connection.name) ?? connection;
      const parts = changedParts(connectionOf(before, connection), after);
      return connectionChanges(agentId).put(now.name, parts.kind === undefined ? { ...keptOf(now), ...parts } : after);
    },
    done: async (saved) => {
      await queryClient.invalidateQueries({ queryKey: ['agent', agentId, 'connections'] });
      toast(connection === undefined ? 'The connection is made.' : 'The connection is saved.');
      onDone(saved);
    },
  });
  return (
    <FormSection
      title={connection === undefined ? 'New connection' : 'Edit the connection'}
      description="It is in effect with the next call of the agent, without a restart."
      label="Connection"
      form={form}
      submit={connection === undefined ? 'Create connection' : 'Save connection'}
      onCancel={onCancel}
    >
      <KindField kind={kind} onChoose={setKind} />
      <PlaceFields kind={kind} connection={connection} problems={form.problems} />
      {kind !== 'mcp' ? (
        <AllowFields allow={connection?.allow ?? []} problems={form.problems} />
      ) : (
        <ToolsField tools={connection?.tools ?? []} />
      )}
      <AccessFields
        key={kind === 'host' ? 'host' : 'service'}
        kind={kind}
        connection={connection}
        problems={form.problems}
      />
      <CheckField
        label="On"
        name="enabled"
        defaultChecked={connection?.enabled ?? true}
        hint="Off, it is kept and not used."
      />
    </FormSection>
  );
}

interface KindProps {
  readonly kind: Connection['kind'];
  readonly onChoose: (kind: Connection['kind']) => void;
}

function KindField({ kind, onChoose }: KindProps) {
  return (
    <ChoiceField
      legend="What it is"
      name="kind"
      value={kind}
      onChoose={onChoose}
      choices={[
        { value: 'http', label: kindTitles.http, meaning: 'The agent sends requests, as far as you allow.' },
        { value: 'host', label: kindTitles.host, meaning: 'Programs such as gh and git use them as they are.' },
        { value: 'mcp', label: kindTitles.mcp, meaning: 'The agent has its tools (Model Context Protocol).' },
      ]}
    />
  );
}

interface PlaceProps {
  readonly kind: Connection['kind'];
  readonly connection: Connection | undefined;
  readonly problems: Problems<string>;
}

/** Its name, which stays, and its address or hosts. */
function PlaceFields(given: PlaceProps) {
  const { kind, connection, problems } = given;
  return (
    <>
      {connection === undefined && (
        <TextField
          label="Name"
          name="name"
          maxLength={32}
          autoComplete="off"
          spellCheck={false}
          placeholder={kind === 'mcp' ? 'tracker' : kind === 'http' ? 'notes' : 'github'}
          hint="The agent uses it by this name."
          error={problems['name']}
        />
      )}
      {kind === 'host' ? <HostsField connection={connection} problems={problems} /> : <AddressField {...given} />}
    </>
  );
}

function HostsField({ connection, problems }: Omit<PlaceProps, 'kind'>) {
  return (
    <TextAreaField
      code
      label="Hosts"
      name="hosts"
      rows={3}
      defaultValue={(connection?.hosts ?? []).join('\n')}
      placeholder={'api.github.com\ngithub.com'}
      hint="Whole names, one a line. In the machine they lead to Lodge."
      error={problems['hosts']}
    />
  );
}

function AddressField({ kind, connection, problems }: PlaceProps) {
  return (
    <TextField
      label="Address"
      name="url"
      type="url"
      maxLength={2000}
      autoComplete="off"
      spellCheck={false}
      defaultValue={connection?.url}
      placeholder={kind === 'http' ? 'https://api.example.com/v1' : 'https://mcp.example.com/mcp'}
      error={problems['url']}
    />
  );
}

function ToolsField({ tools }: { readonly tools: readonly string[] }) {
  return (
    <TextAreaField
      code
      optional
      label="Tools"
      name="tools"
      rows={3}
      defaultValue={tools.join('\n')}
      placeholder={'search_issues\nget_issue'}
      hint="By the server’s names, one a line. Left empty, the agent has all of them."
    />
  );
}
