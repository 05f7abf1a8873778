;; Drives mu4e without a screen: what it shows, and where messages lie, goes to standard output.
;; MU_BINARY is the program, MU_HOME its folder. `transcript-VERSION.txt` is what mu of that version makes of it.

(setq mu4e-mu-binary (getenv "MU_BINARY")
      mu4e-mu-home (getenv "MU_HOME")
      user-mail-address "me@example.com"
      user-full-name "Me"
      message-auto-save-directory nil
      auto-save-default nil
      make-backup-files nil
      create-lockfiles nil
      message-confirm-send nil
      message-kill-buffer-on-exit t
      message-interactive nil
      mail-user-agent 'mu4e-user-agent
      message-send-mail-function (lambda () t)
      mu4e-sent-folder "/sent"
      mu4e-drafts-folder "/drafts"
      mu4e-trash-folder "/trash"
      mu4e-refile-folder "/archive"
      mu4e-headers-fields '((:flags . 10) (:maildir . 10) (:from . 20) (:thread-subject . nil))
      mu4e-headers-include-related t
      mu4e-search-threads t
      mu4e-compose-signature nil
      mu4e-confirm-quit nil)
(require 'mu4e)

(defun driver-wait (what done)
  "Wait until the function DONE says so; WHAT is waited for."
  (let ((until (+ (float-time) 30)))
    (while (and (not (funcall done)) (< (float-time) until))
      (accept-process-output nil 0.02))
    (unless (funcall done) (error "waited in vain for %s" what))))

(defun driver-say (&rest words)
  (princ (apply #'format words))
  (terpri))

(defun driver-file (name)
  "The path below the root of mail that a regular expression matches."
  (let ((root (mu4e-root-maildir)))
    (car (delq nil (mapcar (lambda (file)
                             (let ((below (substring file (length root))))
                               (and (string-match-p name below) below)))
                           (directory-files-recursively root ""))))))

(defun driver-wait-file (name)
  (driver-wait name (lambda () (driver-file name)))
  (driver-say "file %s" (driver-file name)))

(defun driver-wait-folder (name)
  (driver-wait name (lambda () (file-directory-p (concat (mu4e-root-maildir) name)))))

(defvar driver-found nil)
(add-hook 'mu4e-headers-found-hook (lambda () (setq driver-found t)))

(defun driver-search (query)
  "Search, and say what is shown."
  (setq driver-found nil)
  (mu4e-search query)
  (driver-wait query (lambda () driver-found))
  (driver-say "search %s" query)
  (with-current-buffer "*mu4e-headers*"
    (dolist (line (split-string (buffer-substring-no-properties (point-min) (point-max)) "\n" t))
      ;; The number of the message stands hidden before its line.
      (driver-say "| %s" (string-trim-right (replace-regexp-in-string "^[^ ]*  " "" line))))))

(defun driver-goto (id)
  "Go to the message with an identifier."
  (switch-to-buffer "*mu4e-headers*")
  (goto-char (point-min))
  (let ((found nil))
    (while (and (not found) (not (eobp)))
      (let ((msg (mu4e-message-at-point t)))
        (if (and msg (string= (mu4e-message-field msg :message-id) id))
            (setq found t)
          (forward-line 1))))
    (unless found (error "%s is not shown" id))))

(defvar driver-updated nil)
(add-hook 'mu4e-index-updated-hook (lambda () (setq driver-updated t)))

(defun driver-update ()
  (setq driver-updated nil)
  (mu4e-update-index-nonlazy)
  (driver-wait "the index" (lambda () driver-updated)))

(defun driver-answer ()
  "The buffer in which an answer is written."
  (seq-find (lambda (buffer)
              (with-current-buffer buffer (derived-mode-p 'mu4e-compose-mode)))
            (buffer-list)))

(mu4e t)
(driver-wait "the server" #'mu4e-server-properties)
(driver-update)
(driver-search "budget")
(driver-search "flag:unread")

;; To read a message marks it as read.
(driver-goto "a1@example.org")
(mu4e-headers-view-message)
(driver-wait-file "/inbox/cur/1\\.a\\.host:2,S")
(driver-wait "the view"
             (lambda () (and (get-buffer gnus-article-buffer)
                             (with-current-buffer gnus-article-buffer
                               (string-match-p "albatross" (buffer-string))))))

;; Marks, and what becomes of the marked.
(driver-search "maildir:/inbox")
(driver-goto "b2@example.org")
(mu4e-mark-at-point 'unflag nil)
(driver-goto "b3@example.org")
(mu4e-mark-at-point 'flag nil)
(driver-goto "c1@example.org")
(mu4e-mark-at-point 'move "/archive")
(driver-goto "a3@example.org")
(mu4e-mark-at-point 'trash "/trash")
(driver-goto "d1@example.org")
(mu4e-mark-at-point 'delete nil)
(mu4e-mark-execute-all t)
(driver-wait-file "/inbox/cur/4\\.a\\.host:2,S")
(driver-wait-file "/inbox/cur/5\\.a\\.host:2,FS")
(driver-wait-file "/archive/cur/7\\.a\\.host:2,")
(driver-wait-file "/trash/cur/3\\.a\\.host:2,RST")
(driver-wait "deletion" (lambda () (not (driver-file "/10\\.a\\.host"))))
(driver-search "flag:flagged")
(driver-search "maildir:/archive or maildir:/trash")

;; An answer, its copy, and the flag of what was answered.
(driver-search "maildir:/inbox")
(driver-goto "b3@example.org")
(mu4e-compose-reply)
(driver-wait "the answer" #'driver-answer)
(with-current-buffer (driver-answer)
  (driver-say "answer to %s, %s" (message-fetch-field "to") (message-fetch-field "subject"))
  (goto-char (point-max))
  (insert "My answer.\n")
  (message-send-and-exit))
(driver-wait-file "/inbox/cur/5\\.a\\.host:2,FRS")
(driver-wait "the copy" (lambda () (driver-file "/sent/cur/[^9].*:2,S")))
(driver-search "flag:replied")

(driver-wait "contacts" (lambda () (and mu4e--contacts-set
                                        (> (hash-table-count mu4e--contacts-set) 0))))
(let (contacts)
  (maphash (lambda (contact _) (push contact contacts)) mu4e--contacts-set)
  (dolist (contact (sort contacts #'string<)) (driver-say "contact %s" contact)))
(driver-update)
(driver-search "maildir:/inbox")

;; Counts of what is bookmarked, and the folders of mail.
(defun driver-counts ()
  "Say how many messages each of some queries finds, and how many are unread."
  (let* ((queries '("flag:unread" "maildir:/sent"))
         (items nil)
         ;; mu4e asks of its own bookmarks too, and that answer may come first.
         (take (lambda (found)
                 (when (equal (plist-get (car found) :query) (car queries))
                   (setq items found))))
         (mu4e-queries-func (lambda (sexp) (funcall take (plist-get sexp :queries))))
         (mu4e-pong-func (lambda (sexp)
                           (funcall take (plist-get (plist-get sexp :props) :queries)))))
    (if (fboundp 'mu4e--server-queries)
        (mu4e--server-queries queries)
      (mu4e--server-ping queries))
    (driver-wait "counts" (lambda () items))
    (dolist (item items)
      (driver-say "count %s %s, unread %s" (plist-get item :query)
                  (plist-get item :count) (plist-get item :unread)))))
(mu4e--server-mkdir (concat (mu4e-root-maildir) "/later"))
(driver-wait-folder "/later/cur")
(driver-say "folders %s" (sort (copy-sequence (mu4e-get-maildirs)) #'string<))
(driver-counts)

;; A draft is kept, changed and sent.
(mu4e-compose-new)
(driver-wait "a new message" #'driver-answer)
(with-current-buffer (driver-answer)
  (message-goto-to)
  (insert "anna@example.org")
  (message-goto-subject)
  (insert "Half done")
  (message-goto-body)
  (insert "Dugong.\n")
  (save-buffer)
  (kill-buffer))
(driver-search "dugong")
(switch-to-buffer "*mu4e-headers*")
(goto-char (point-min))
(mu4e-compose-edit)
(driver-wait "the draft" #'driver-answer)
(with-current-buffer (driver-answer)
  (goto-char (point-max))
  (insert "Manatee.\n")
  (message-send-and-exit))
(driver-wait "the draft to go" (lambda () (not (driver-file "^/drafts/"))))
(driver-search "maildir:/drafts or manatee")

;; A message is passed on with what it carries.
(driver-search "maildir:/archive")
(driver-goto "c1@example.org")
(mu4e-compose-forward)
(driver-wait "what is passed on" #'driver-answer)
(with-current-buffer (driver-answer)
  (driver-say "passed on as %s" (message-field-value "subject"))
  (message-goto-to)
  (insert "bob@example.org")
  (message-send-and-exit))
(driver-wait-file "/archive/cur/7\\.a\\.host:2,P")

;; Tags, written to the message; marks that were not set before; one message by its identifier.
(driver-search "maildir:/inbox")
(driver-goto "a2@example.org")
(mu4e-action-retag-message (mu4e-message-at-point) "+todo")
(driver-search "tag:todo")
(driver-goto "a2@example.org")
(mu4e-mark-at-point 'unread nil)
(driver-goto "a4@example.org")
(mu4e-mark-at-point 'refile "/archive")
(mu4e-mark-execute-all t)
(driver-wait-file "/inbox/cur/2\\.a\\.host:2,$")
(driver-wait-file "/archive/cur/9\\.a\\.host:2,S")
(mu4e-view-message-with-message-id "f1@example.org")
(driver-wait "the message of an identifier"
             (lambda () (and (get-buffer gnus-article-buffer)
                             (with-current-buffer gnus-article-buffer
                               (string-match-p "capybara" (buffer-string))))))
(setq mu4e-search-threads nil mu4e-headers-include-related nil mu4e-search-include-related nil
      mu4e-headers-sort-field :subject mu4e-search-sort-field :subject
      mu4e-headers-sort-direction 'ascending mu4e-search-sort-direction 'ascending)
(driver-search "flag:personal and not subject:budget")
(driver-search "\"orphan text\" or subject:dele*")
(driver-update)
(driver-counts)
(mu4e-quit)
