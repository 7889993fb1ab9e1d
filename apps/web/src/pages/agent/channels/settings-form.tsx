import type { Channel } from '@lodge/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '../../../api.ts';
import { CheckField } from '../../../components/form/check-field.tsx';
import { PasswordField } from '../../../components/form/field.tsx';
import { FormSection } from '../../../components/form/form-section.tsx';
import { toast } from '../../../components/toasts/toasts.tsx';
import type { Problems } from '../../../components/form/use-form.ts';
import { text, useForm } from '../../../components/form/use-form.ts';
import { AccessFields } from './access-fields.tsx';
import { accessOf, checkAccess, defaultAccess, mergedAccess } from './access-form.ts';
import type { AccessName } from './access-form.ts';
import { channelTitles } from './channel-names.ts';
import type { ChannelName } from './channel-names.ts';
import { platforms } from './platforms.tsx';
import type { SecretField } from './platforms.tsx';
import { channelChanges, channelsQuery } from './queries.ts';

type Name = AccessName | SecretField['name'];

interface SettingsProps {
  readonly agentId: string;
  readonly name: ChannelName;
  /** Undefined: it is not set up. */
  readonly channel: Channel | undefined;
  readonly onSaved: () => void;
  readonly discard: () => void;
}

/** The name under which the text of the form is kept. */
export const channelDraft = (agentId: string, name: ChannelName): string => `channel:${agentId}:${name}`;

/** The form of a channel's PUT: its secrets, and who may write. */
export function SettingsForm({ agentId, name, channel, onSaved, discard }: SettingsProps) {
  const title = channelTitles[name];
  const { secrets } = platforms[name];
  const access = channel?.access ?? defaultAccess;
  const { form, isDown } = useSettingsForm({ agentId, name, channel, onSaved });
  return (
    <FormSection
      title={channel === undefined ? 'Set up' : 'Settings'}
      description={secrets.length === 0 ? undefined : 'Tokens are kept encrypted on the host, and never shown again.'}
      label={`Settings of ${title}`}
      form={form}
      discard={discard}
      submit={channel === undefined ? `Set up ${title}` : 'Save settings'}
    >
      {secrets.map((secret) => (
        <SecretInput
          key={secret.name}
          secret={secret}
          last4={channel?.credentials[secret.name]?.last4}
          error={form.problems[secret.name]}
        />
      ))}
      <AccessFields channel={name} access={access} problems={form.problems} />
      {isDown && (
        <CheckField
          label={`Keep it without asking ${title}`}
          name="unverified"
          hint="Until the channel connects, nothing proves the token."
        />
      )}
    </FormSection>
  );
}

function useSettingsForm({ agentId, name, channel, onSaved }: Omit<SettingsProps, 'discard'>) {
  const title = channelTitles[name];
  const { secrets } = platforms[name];
  const access = channel?.access ?? defaultAccess;
  const queryClient = useQueryClient();
  const [isDown, setDown] = useState(false);
  const isStored = (secret: SecretField): boolean => channel?.credentials[secret.name] !== undefined;
  const check = (data: FormData): Problems<Name> => {
    const problems: Problems<Name> = checkAccess(data);
    for (const secret of secrets) {
      if (text(data, secret.name).trim() === '' && !isStored(secret)) problems[secret.name] = 'Enter the token.';
    }
    return problems;
  };
  const form = useForm<Name, Channel>({
    keep: channelDraft(agentId, name),
    check,
    send: async (data, before) => {
      // A PUT replaces it: others may have changed meanwhile what nobody touched here.
      const all = await queryClient.fetchQuery({ ...channelsQuery(agentId), staleTime: 0 });
      const now = all.find((one) => one.channel === name) ?? channel;
      const given = secrets.map((secret) => [secret.name, text(data, secret.name).trim()] as const);
      const body = {
        ...Object.fromEntries(given.filter(([, value]) => value !== '')),
        access: mergedAccess(now?.access, accessOf(before, access), accessOf(data, access)),
        enabled: now?.enabled ?? true,
      };
      return channelChanges(agentId, name).put(body, !data.has('unverified'));
    },
    done: () => {
      toast(channel === undefined ? `${title} is set up.` : `The settings of ${title} are saved.`);
      onSaved();
    },
    failed: (error) => {
      setDown(error instanceof ApiError && error.message.includes('verify=false'));
      return false;
    },
  });
  return { form, isDown };
}

interface SecretInputProps {
  readonly secret: SecretField;
  readonly last4: string | undefined;
  readonly error: string | undefined;
}

/** A stored secret is replaced or stays; it is never shown. */
function SecretInput({ secret, last4, error }: SecretInputProps) {
  return (
    <PasswordField
      label={last4 === undefined ? secret.label : `New ${secret.label.toLowerCase()}`}
      name={secret.name}
      maxLength={500}
      autoComplete="off"
      placeholder={last4 === undefined ? undefined : `Stored: …${last4}`}
      hint={last4 === undefined ? secret.hint : `The one that ends in ${last4} stays if this is left empty.`}
      error={error}
    />
  );
}
