/** Settings of the skills library. */
import { origin, required } from '@lodge/ports/settings';
import { oneOf } from './values.ts';

export const skillSettings = {
  skillAddresses: required(
    'LODGE_SKILL_ADDRESSES',
    '`public` or `any`',
    'public',
    'Where skills may be fetched from: public addresses by https, or any, by http too. With `any` whoever has an account sends requests into the network of this machine.',
    oneOf('public', 'any'),
  ),
  clawHubUrl: required(
    'LODGE_CLAWHUB_URL',
    'URL',
    'https://clawhub.ai',
    'Where ClawHub is, or a mirror that speaks its API.',
    origin,
  ),
  skillsShUrl: required(
    'LODGE_SKILLS_SH_URL',
    'URL',
    'https://skills.sh',
    'Where skills.sh is, or a mirror that speaks its API.',
    origin,
  ),
} as const;
