/** An app of Slack with what Lodge needs of it, as the guide of Slack has it. */
export const slackManifest = JSON.stringify(
  {
    display_information: { name: 'Agent' },
    features: {
      bot_user: { display_name: 'Agent', always_online: true },
      app_home: { home_tab_enabled: false, messages_tab_enabled: true, messages_tab_read_only_enabled: false },
    },
    oauth_config: {
      scopes: {
        bot: [
          'app_mentions:read',
          'channels:history',
          'channels:read',
          'chat:write',
          'files:read',
          'files:write',
          'groups:history',
          'groups:read',
          'im:history',
          'im:read',
          'im:write',
          'mpim:history',
          'mpim:read',
          'reactions:write',
          'users:read',
        ],
      },
    },
    settings: {
      event_subscriptions: {
        bot_events: ['app_mention', 'message.channels', 'message.groups', 'message.im', 'message.mpim'],
      },
      interactivity: { is_enabled: true },
      socket_mode_enabled: true,
      token_rotation_enabled: false,
    },
  },
  null,
  2,
);
