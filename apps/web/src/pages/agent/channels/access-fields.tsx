import type { ChannelAccess } from '@lodge/sdk';
import { useState } from 'react';
import { CheckField } from '../../../components/form/check-field.tsx';
import { ChoiceField } from '../../../components/form/choice-field.tsx';
import type { Choice } from '../../../components/form/choice-field.tsx';
import { TextField } from '../../../components/form/field.tsx';
import { TextAreaField } from '../../../components/form/text-area-field.tsx';
import type { Problems } from '../../../components/form/use-form.ts';
import type { AccessName } from './access-form.ts';
import type { ChannelName } from './channel-names.ts';
import { platforms } from './platforms.tsx';

const modes: readonly Choice<ChannelAccess['mode']>[] = [
  { value: 'pairing', label: 'Whom you let in', meaning: 'Somebody unknown gets a code, and you approve it here.' },
  { value: 'allowlist', label: 'Only those on the list', meaning: 'Others are refused, and are not told.' },
  { value: 'open', label: 'Anybody', meaning: 'Whoever finds the agent can use it, at your cost.' },
  { value: 'disabled', label: 'Nobody', meaning: 'Direct messages are refused.' },
];

const groupModes: readonly Choice<ChannelAccess['groups']['mode']>[] = [
  {
    value: 'allowlist',
    label: 'In the groups on the list',
    meaning: 'There to everybody; elsewhere to those who may write directly.',
  },
  { value: 'open', label: 'In any group' },
  { value: 'disabled', label: 'In none' },
];

interface AccessFieldsProps {
  readonly channel: ChannelName;
  readonly access: ChannelAccess;
  readonly problems: Problems<AccessName>;
}

/** The people who may write to the agent, with everything that the API has for it. */
export function AccessFields({ channel, access, problems }: AccessFieldsProps) {
  const [mode, setMode] = useState(access.mode);
  const { senderHint } = platforms[channel];
  return (
    <>
      <ChoiceField
        legend="Who may write directly"
        name="mode"
        choices={modes}
        defaultValue={access.mode}
        onChoose={setMode}
      />
      {(mode === 'allowlist' || mode === 'pairing') && (
        <TextAreaField
          code
          label={mode === 'allowlist' ? 'People on the list' : 'People who need no code'}
          optional={mode === 'pairing'}
          name="allow_from"
          rows={3}
          defaultValue={access.allow_from.join('\n')}
          hint={senderHint}
          error={problems.allow_from}
        />
      )}
      <TextField
        label="Messages of one person in an hour"
        name="per_sender_hourly"
        inputMode="numeric"
        maxLength={5}
        defaultValue={access.per_sender_hourly}
        hint="Further ones are refused, so nobody can run up your costs."
        className="sm:max-w-32"
        error={problems.per_sender_hourly}
      />
      {channel !== 'gmail' && <GroupFields channel={channel} access={access} problems={problems} />}
    </>
  );
}

function GroupFields({ channel, access: { groups }, problems }: AccessFieldsProps) {
  const [mode, setMode] = useState(groups.mode);
  return (
    <>
      <ChoiceField
        legend="Where it answers in groups"
        name="group_mode"
        choices={groupModes}
        defaultValue={groups.mode}
        onChoose={setMode}
      />
      {mode === 'allowlist' && (
        <TextAreaField
          code
          optional
          label="Groups on the list"
          name="group_allow"
          rows={2}
          defaultValue={groups.allow.join('\n')}
          hint={platforms[channel].groupHint}
          error={problems.group_allow}
        />
      )}
      {mode !== 'disabled' && (
        <CheckField
          label="Only when it is mentioned"
          name="require_mention"
          defaultChecked={groups.require_mention}
          hint="Else it answers every message of the group."
        />
      )}
    </>
  );
}
