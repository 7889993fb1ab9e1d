import { OutwardLink } from '../../../components/shown/links.tsx';
import { cx } from '../../../components/cx.ts';
import { Notice } from '../../../components/notice.tsx';
import { channelTitles } from './channel-names.ts';
import type { ChannelName } from './channel-names.ts';
import { platforms } from './platforms.tsx';

/** The steps at the platform, in their order. On a narrow screen they come first while they are still to be taken. */
export function Guide({ channel, isNew }: { readonly channel: ChannelName; readonly isNew: boolean }) {
  const { steps, warning } = platforms[channel];
  return (
    <section
      aria-label={`How to set up ${channelTitles[channel]}`}
      className={cx(
        'flex min-w-0 flex-col gap-4 rounded-card border border-line bg-sunken px-5 py-5',
        isNew && 'max-xl:order-first',
      )}
    >
      <h3 className="font-semibold">How to set up {channelTitles[channel]}</h3>
      {warning !== undefined && <Notice kind="warning">{warning}</Notice>}
      <ol className="flex flex-col gap-3">
        {steps.map((step, index) => (
          <li key={index} className="grid grid-cols-[1.5rem_minmax(0,1fr)] gap-2.5 text-muted">
            <span
              aria-hidden
              className="flex size-6 items-center justify-center rounded-full bg-accent-soft text-xs font-semibold text-accent"
            >
              {index + 1}
            </span>
            <div className="min-w-0 pt-0.5 wrap-anywhere">{step}</div>
          </li>
        ))}
      </ol>
      <p className="text-muted">
        <OutwardLink href={`/docs/guides/channels/${channel}`}>The whole guide</OutwardLink>
      </p>
    </section>
  );
}
