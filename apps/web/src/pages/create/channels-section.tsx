import { useId, useState } from 'react';
import { LostSecret, PasswordField } from '../../components/form/field.tsx';
import { FormCard } from '../../components/shown/cards.tsx';
import { OptionList } from '../../components/form/option-list.tsx';
import { channelNames, channelTitles } from '../agent/channels/channel-names.ts';
import type { ChannelName } from '../agent/channels/channel-names.ts';
import { platforms } from '../agent/channels/platforms.tsx';
import { tokenName } from './tokens.ts';
import type { TokenName, Tokens } from './tokens.ts';
import type { SectionProps } from './draft.ts';

interface ChannelsProps extends SectionProps {
  readonly tokens: Tokens;
  readonly setToken: (name: TokenName, value: string) => void;
  /** The rest of the form is back from before, and the tokens are not. */
  readonly isBack: boolean;
}

/** The platforms on which people write to the agent, each with the tokens that it needs. */
export function ChannelsSection({ draft, set, ...rest }: ChannelsProps) {
  const toggle = (name: ChannelName): void =>
    set({
      channels: channelNames.filter((one) => (one === name) !== draft.channels.includes(one)),
    });
  return (
    <FormCard
      title="Channels"
      description="Where people write to the agent, beside this page. Each can be added later, too."
    >
      <OptionList
        legend={
          <>
            Platforms <span className="font-normal text-muted">(optional)</span>
          </>
        }
      >
        {channelNames.map((name) => (
          <Platform key={name} name={name} isOn={draft.channels.includes(name)} toggle={() => toggle(name)} {...rest} />
        ))}
      </OptionList>
    </FormCard>
  );
}

interface PlatformProps extends Pick<ChannelsProps, 'tokens' | 'setToken' | 'isBack' | 'problems'> {
  readonly name: ChannelName;
  readonly isOn: boolean;
  readonly toggle: () => void;
}

function Platform({ name, isOn, toggle, tokens, setToken, isBack, problems }: PlatformProps) {
  const [wasOn] = useState(isOn);
  const id = useId();
  const { summary, secrets } = platforms[name];
  return (
    <div className={isOn ? 'bg-accent-soft' : undefined}>
      <label className="flex cursor-pointer gap-3 px-3.5 py-2.5 hover:bg-hover">
        <input
          type="checkbox"
          checked={isOn}
          onChange={toggle}
          aria-labelledby={`${id}-name`}
          aria-describedby={`${id}-summary`}
          className="mt-0.5 size-4 shrink-0 accent-accent"
        />
        <span className="flex min-w-0 flex-col gap-0.5">
          <span id={`${id}-name`} className="font-medium">
            {channelTitles[name]}
          </span>
          <span id={`${id}-summary`} className="text-[0.8125rem] text-muted">
            {summary}
          </span>
        </span>
      </label>
      {isOn && (
        <div className="flex flex-col gap-3 border-t border-line bg-surface px-3.5 py-3 sm:pl-10.5">
          {secrets.length === 0 && (
            <p className="text-[0.8125rem] text-muted">
              {name === 'whatsapp'
                ? 'Its code to scan is shown as soon as the agent runs.'
                : 'You sign in at Google as soon as the agent runs.'}
            </p>
          )}
          {secrets.map(({ name: secret, label, hint }) => {
            const token = tokenName(name, secret);
            return (
              <PasswordField
                key={secret}
                label={`${label} of ${channelTitles[name]}`}
                autoComplete="off"
                maxLength={500}
                value={tokens[token] ?? ''}
                onChange={(event) => setToken(token, event.target.value)}
                hint={isBack && wasOn ? <LostSecret>{hint}</LostSecret> : hint}
                error={problems[token]}
              />
            );
          })}
        </div>
      )}
    </div>
  );
}
