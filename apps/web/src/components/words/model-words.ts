/** The cost and the context of an offered model, in words. */
import type { OfferedModel } from '@lodge/sdk';
import { formatNumber, formatUsd } from '../../format.ts';

/** A model of each well-known provider, to begin with; any other can be chosen later. */
export const firstModels: Readonly<Record<string, string>> = {
  anthropic: 'claude-sonnet-5',
  openai: 'gpt-5',
  google: 'gemini-2.5-pro',
};

/** A line of a list: its name and price. */
export const modelLine = ({ id, prices }: OfferedModel): string =>
  prices === null ? id : `${id} (${formatUsd(prices.input)} in, ${formatUsd(prices.output)} out)`;

/** Sentences below the chosen model. */
export function modelFacts({ prices, context_window: context }: OfferedModel): string {
  const price =
    prices === null
      ? 'Its price is that of its provider.'
      : `A million tokens cost ${formatUsd(prices.input)} in and ${formatUsd(prices.output)} out.`;
  return context === null ? price : `${price} It takes in up to ${formatNumber(context)} tokens.`;
}
