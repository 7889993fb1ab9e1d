# /etc/profile sets PATH anew: programs that pip and npm install for a user are on it here, too.
PATH="$HOME/.local/bin:$PATH"
