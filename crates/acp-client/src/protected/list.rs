//! The protected paths that are built in, with the reason for each group.

/// Names that are protected for one reason.
pub(super) struct ProtectedGroup {
    /// Names of files and folders, one a word, in the notation of
    /// [`ProtectedPaths::with`](super::ProtectedPaths::with).
    pub(super) patterns: &'static str,
    /// The danger in writing there; follows "it is protected: ".
    pub(super) reason: &'static str,
}

/// Files that other programs run or obey without being asked, and files that hold keys.
///
/// The source of a program is not among them, nor are `package.json`, `Makefile`,
/// `Cargo.toml`, `build.rs` or tests: an agent is there to change them, and they run when
/// somebody builds the project. The files below run by opening a folder, entering it,
/// committing in it, or logging in.
pub(super) const GROUPS: &[ProtectedGroup] = &[
    ProtectedGroup {
        patterns: ".git .gitmodules .gitconfig .config/git .hg .hgrc .jj .config/jj .svn",
        reason: "version control runs commands and hooks that are named there",
    },
    ProtectedGroup {
        // A folder with a file HEAD, a folder of objects and a file config is a repository
        // to git, hooks and all. A folder of this name is none.
        patterns: "HEAD$",
        reason: "git takes a folder with such a file for a repository and runs its hooks",
    },
    ProtectedGroup {
        patterns: ".husky .githooks .git-hooks .hooks .pre-commit-config.yaml \
                   .pre-commit-config.yml lefthook.yml lefthook.yaml .lefthook.yml \
                   .lefthook.yaml .lefthook",
        reason: "it runs when somebody commits",
    },
    ProtectedGroup {
        patterns: ".acp.toml .config/acp .local/state/acp",
        reason: "it says what agents may do",
    },
    ProtectedGroup {
        patterns: ".mcp.json .claude.json .claude/settings.json .claude/settings.local.json \
                   .claude/hooks .claude/agents .claude/commands .codex .gemini .cursor \
                   .opencode opencode.json .continue .kiro",
        reason: "it says what other agents may do and which programs they start",
    },
    ProtectedGroup {
        patterns: ".envrc .direnv .mise.toml mise.toml .mise",
        reason: "it runs or chooses programs when somebody enters the folder",
    },
    ProtectedGroup {
        patterns: ".vscode .vs .idea .fleet .zed .theia .devcontainer .devcontainer.json \
                   *.code-workspace .exrc .nvimrc .nvim.lua .vimrc .vim .config/nvim \
                   .dir-locals.el .dir-locals-2.el .emacs .emacs.d .sublime-project",
        reason: "an editor runs commands that are named there",
    },
    ProtectedGroup {
        patterns: ".github/workflows .github/actions .forgejo/workflows .gitea/workflows \
                   .gitlab-ci.yml .circleci .buildkite .travis.yml .drone.yml .woodpecker \
                   .woodpecker.yml .cirrus.yml Jenkinsfile azure-pipelines.yml \
                   bitbucket-pipelines.yml",
        reason: "it runs in continuous integration, with the keys of the project",
    },
    ProtectedGroup {
        patterns: ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile \
                   .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .mkshrc .cshrc .tcshrc \
                   .login .logout .inputrc .config/fish .config/nushell .config/powershell \
                   Documents/PowerShell Documents/WindowsPowerShell .pam_environment \
                   .tmux.conf .screenrc .gdbinit .lldbinit",
        reason: "it runs when a shell or another program starts",
    },
    ProtectedGroup {
        patterns: ".xinitrc .xprofile .xsession .xsessionrc .config/autostart .config/systemd \
                   .config/environment.d Library/LaunchAgents Library/LaunchDaemons \
                   Programs/Startup .local/bin .cargo/bin",
        reason: "it runs when somebody logs in, or in place of a program of that name",
    },
    ProtectedGroup {
        patterns: ".npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .cargo/config .cargo/config.toml \
                   .pypirc .config/pip pip.conf .gemrc .bundle/config sitecustomize.py \
                   usercustomize.py",
        reason: "it names programs that build tools run, or where they get them",
    },
    ProtectedGroup {
        patterns: ".ssh .gnupg .aws .azure .config/gcloud .kube .docker/config.json .netrc _netrc \
                   .git-credentials .password-store .vault-token",
        reason: "it holds keys, or says who may log in",
    },
];
